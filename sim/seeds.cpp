#include "sim/seeds.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace headway::sim {

void Tally::add(const Tally& other) {
  seeds += other.seeds;
  faults += other.faults;
  attempts += other.attempts;
  events += other.events;
  simulated_s += other.simulated_s;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind) by_fault[kind] += other.by_fault[kind];
  breaches.insert(breaches.end(), other.breaches.begin(), other.breaches.end());
  std::sort(breaches.begin(), breaches.end(), [](const Breach& a, const Breach& b) { return a.seed < b.seed; });
}

std::optional<Breach> run_seed(std::uint64_t seed, Tally& tally) {
  ++tally.seeds;
  try {
    const Summary summary = World(seed).run();
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
      tally.by_fault[kind] += static_cast<std::uint64_t>(summary.by_fault[kind]);
      tally.faults += static_cast<std::uint64_t>(summary.by_fault[kind]);
    }
    tally.attempts += static_cast<std::uint64_t>(summary.attempts);
    tally.events += static_cast<std::uint64_t>(summary.events);
    tally.simulated_s += summary.simulated_s;
  } catch (const Violation& violation) {
    return Breach{seed, violation.invariant(), violation.what()};
  } catch (const std::exception& exception) {
    return Breach{seed, "the controller throws nothing", exception.what()};
  }
  return std::nullopt;
}

Tally run_seeds(std::uint64_t first, std::uint64_t seeds, int threads, std::size_t breaches_max) {
  constexpr std::uint64_t chunk = 64;
  std::atomic<std::uint64_t> next = first;
  std::atomic<std::size_t> breaches = 0;
  std::mutex mutex;
  Tally total;
  const auto work = [&] {
    Tally mine;
    while (breaches < breaches_max) {
      const std::uint64_t from = next.fetch_add(chunk);
      if (from >= first + seeds) break;
      for (std::uint64_t seed = from; seed < std::min(from + chunk, first + seeds); ++seed) {
        if (auto breach = run_seed(seed, mine)) {
          mine.breaches.push_back(std::move(*breach));
          if (++breaches >= breaches_max) break;
        }
      }
    }
    const std::lock_guard lock(mutex);
    total.add(mine);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return total;
}

}  // namespace headway::sim
