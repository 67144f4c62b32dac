#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headway::control::tune::sim {

/// Runs the experiment of one seed. What went wrong, in words.
std::optional<std::string> run_seed(std::uint64_t seed);

}  // namespace headway::control::tune::sim
