#include "sim/marks.hpp"
#include "sim/seeds.hpp"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

/// headway_sim: simulated runs by their seeds. Exit status: 0 when every invariant held, 1 when
/// not, 2 for bad arguments.
namespace headway::sim {
namespace {

constexpr const char* usage =
    "headway_sim --seeds N [--first N] [--jobs N]   runs N seeds; fails when an invariant breaks, a mark of the "
    "controller\n"
    "                                               or a kind of fault is never met, or a seed has less than 5 faults "
    "on average\n"
    "headway_sim --seed N                           runs one seed and prints what happens\n"
    "headway_sim --kept FILE                        runs the seeds that FILE lists\n";

/// Below this many seeds, rare branches may be missed by chance.
constexpr std::uint64_t seeds_for_coverage = 20'000;
constexpr double faults_a_seed_min = 5;

struct Options {
  std::optional<std::uint64_t> seed;
  std::uint64_t seeds = 0;
  std::uint64_t first = 0;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::string kept;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return std::nullopt;
    const std::string_view name = argv[i];
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(argv[i + 1], &end, 10);
    const bool is_number = *argv[i + 1] != '\0' && *end == '\0';
    if (name == "--kept") {
      options.kept = argv[i + 1];
      continue;
    }
    if (!is_number) return std::nullopt;
    if (name == "--seed") {
      options.seed = number;
    } else if (name == "--seeds") {
      options.seeds = number;
    } else if (name == "--first") {
      options.first = number;
    } else if (name == "--jobs" && number > 0) {
      options.jobs = static_cast<int>(number);
    } else {
      return std::nullopt;
    }
  }
  const int tasks = (options.seed ? 1 : 0) + (options.seeds > 0 ? 1 : 0) + (options.kept.empty() ? 0 : 1);
  return tasks == 1 ? std::optional(options) : std::nullopt;
}

int replay(std::uint64_t seed) {
  World world(seed);
  world.trace();
  try {
    world.run();
  } catch (const Violation& violation) {
    std::printf("\nseed %" PRIu64 " breaks an invariant: %s\n", seed, violation.what());
    return 1;
  }
  std::printf("\nseed %" PRIu64 ": every invariant held\n", seed);
  return 0;
}

void print_breach(const Breach& breach) {
  std::printf("seed %" PRIu64 " breaks an invariant: %s\n  replay: build/sim/headway_sim --seed %" PRIu64 "\n",
              breach.seed, breach.words.c_str(), breach.seed);
}

/// What many seeds must have met; the number of shortcomings.
int check_coverage(const Tally& tally) {
  int missed = 0;
  for (const std::string& mark : marks_missed()) {
    std::printf("no seed reached the controller's mark %s\n", mark.c_str());
    ++missed;
  }
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
    if (tally.by_fault[kind] > 0) continue;
    std::printf("no seed had the fault %s\n", to_string(static_cast<Fault>(kind)));
    ++missed;
  }
  const double faults = static_cast<double>(tally.faults) / static_cast<double>(tally.seeds);
  if (faults < faults_a_seed_min) {
    std::printf("a seed has %.2f faults on average, less than %.0f\n", faults, faults_a_seed_min);
    ++missed;
  }
  return missed;
}

int run_many(const Options& options) {
  const auto started = std::chrono::steady_clock::now();
  const Tally tally = run_seeds(options.first, options.seeds, options.jobs, 10);
  const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  for (const Breach& breach : tally.breaches) print_breach(breach);
  const double seeds = static_cast<double>(tally.seeds);
  std::printf("%" PRIu64 " seeds from %" PRIu64
              " in %.1f s on %d threads (%.0f seeds/s), generator version %d\n"
              "a seed on average: %.2f faults, %.2f attempts, %.1f events, %.1f simulated seconds\n",
              tally.seeds, options.first, took_s, options.jobs, seeds / took_s, generator_version,
              static_cast<double>(tally.faults) / seeds, static_cast<double>(tally.attempts) / seeds,
              static_cast<double>(tally.events) / seeds, tally.simulated_s / seeds);
  const int missed = options.seeds >= seeds_for_coverage && tally.breaches.empty() ? check_coverage(tally) : 0;
  return tally.breaches.empty() && missed == 0 ? 0 : 1;
}

/// Lines "VERSION SEED words": seeds of an older generator mean nothing any more, and are named.
int run_kept(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    std::printf("cannot read %s\n", path.c_str());
    return 2;
  }
  Tally tally;
  std::size_t breaches = 0;
  int stale = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    int version = 0;
    std::uint64_t seed = 0;
    if (!(words >> version >> seed)) {
      std::printf("%s: a line is \"VERSION SEED words\", not \"%s\"\n", path.c_str(), line.c_str());
      return 2;
    }
    if (version != generator_version) {
      ++stale;
    } else if (const auto breach = run_seed(seed, tally)) {
      print_breach(*breach);
      ++breaches;
    }
  }
  std::printf("%" PRIu64 " kept seeds held, %d of former generators were left out\n", tally.seeds - breaches, stale);
  return breaches == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fputs(usage, stderr);
    return 2;
  }
  if (options->seed) return replay(*options->seed);
  return options->kept.empty() ? run_many(*options) : run_kept(options->kept);
}

}  // namespace
}  // namespace headway::sim

int main(int argc, char** argv) { return headway::sim::run(argc, argv); }
