#include "sim/planted/planted.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>

/// headway_sim_planted [SEEDS], headway_sim_data_planted [SEEDS]: wakes the planted bugs one after
/// another, and says which seed finds each. Exit status 1 when one is not found within SEEDS seeds,
/// or when something breaks with all of them asleep.
namespace headway::sim {

int planted_bug = 0;

namespace {

constexpr const char* names[] = {
#include "planted_names.inc"
};

int run(std::uint64_t seeds) {
  // Every seed: a planted text that differs from the original while it sleeps would find all the
  // bugs after it.
  if (const auto asleep = first_found(seeds)) {
    std::printf("with no bug awake, seed %" PRIu64 " breaks an invariant: %s\n", asleep->seed, asleep->words.c_str());
    return 1;
  }
  int missed = 0;
  for (planted_bug = 1; planted_bug <= static_cast<int>(std::size(names)); ++planted_bug) {
    const char* name = names[planted_bug - 1];
    if (const auto found = first_found(seeds)) {
      std::printf("%3d %-48s seed %5" PRIu64 "  %s\n", planted_bug, name, found->seed, found->words.c_str());
    } else {
      ++missed;
      std::printf("%3d %-48s NOT FOUND by %" PRIu64 " seeds\n", planted_bug, name, seeds);
    }
  }
  std::printf("%zu of %zu planted bugs found\n", std::size(names) - static_cast<std::size_t>(missed), std::size(names));
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headway::sim

int main(int argc, char** argv) { return headway::sim::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000); }
