#include "engine/local_engine.hpp"

#include <algorithm>

namespace headway::engine {

void LocalEngine::acquire(std::int64_t holder, int workers, const WorkerClaim& claim, Granted granted) {
  if (auto possible = ledger_.check_possible(workers, claim); !possible) {
    granted(possible.error());
    return;
  }
  queue_.push_back({holder, workers, claim, std::move(granted)});
  serve_queue();
}

void LocalEngine::release(std::int64_t holder) {
  std::erase_if(queue_, [&](const Request& request) { return request.holder == holder; });
  ledger_.release(holder);
  serve_queue();
}

/// First come, first served: a large request is not starved by small ones behind it.
void LocalEngine::serve_queue() {
  while (!queue_.empty()) {
    auto slots = ledger_.claim(queue_.front().holder, queue_.front().workers, queue_.front().claim);
    if (!slots) return;
    Request request = std::move(queue_.front());
    queue_.pop_front();
    request.granted(to_grant(request, std::move(*slots)));
  }
}

Grant LocalEngine::to_grant(const Request& request, std::vector<Slot> slots) const {
  Grant grant{std::move(slots), {}};
  const auto cpus = ledger_.node().total.find("CPU");
  const double there = cpus == ledger_.node().total.end() ? 0 : cpus->second;
  if (request.claim.advised_cpus * request.workers > there) {
    grant.warnings.push_back(
        std::to_string(request.workers) + " workers share " + std::to_string(static_cast<int>(there)) +
        (there == 1 ? " CPU" : " CPUs") +
        "; they run, but slower than with a CPU each (resources_per_worker={\"CPU\": n} makes CPUs a hard "
        "limit)");
  }
  return grant;
}

}  // namespace headway::engine
