#pragma once

#include "data/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace headway::data {

/// What is wrong with a node's arguments or with the number of its inputs, in words; nothing when
/// all is well.
std::optional<std::string> what_is_wrong(const Node& node, std::size_t blobs);

}  // namespace headway::data
