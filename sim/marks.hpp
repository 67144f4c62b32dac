#pragma once

#include "control/marks.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headway::sim {

/// How often each mark of the controller (control/marks.hpp) was reached by this process, by name;
/// 0 for those that never were.
std::map<std::string, std::uint64_t> marks_reached();

/// The names of the marks that were never reached.
std::vector<std::string> marks_missed();

}  // namespace headway::sim
