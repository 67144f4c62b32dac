#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headway::sim {

/// The number of the planted bug that is awake (see bugs.txt); 0: none. Set before runs are
/// started.
extern int planted_bug;

/// A seed whose run goes wrong.
struct FoundBy {
  std::uint64_t seed = 0;
  std::string words;
};

/// The first of seeds 0 to `seeds` - 1 that goes wrong. Each simulator has one.
std::optional<FoundBy> first_found(std::uint64_t seeds);

}  // namespace headway::sim

#define HEADWAY_BUG(number) (::headway::sim::planted_bug == (number))
