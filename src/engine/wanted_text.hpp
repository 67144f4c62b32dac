#pragma once

#include "engine/engine.hpp"

#include <string>

namespace headway::engine {

/// "2 workers with {GPU: 1} each on one node", for messages.
std::string to_text(const Wanted& wanted);

}  // namespace headway::engine
