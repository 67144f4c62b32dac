#include "data/function_workers.hpp"

#include <algorithm>

namespace headway::data {
namespace {

/// Nobody has more than so many.
constexpr int enough = 1 << 20;

}  // namespace

WantedWorkers workers_elsewhere(const Plan& plan, int cores, bool first) {
  WantedWorkers wanted{0, 0};
  for (const Node& node : plan.nodes) {
    const auto* function = node.as<FunctionNode>();
    if (function == nullptr || function->num_gpus > 0) continue;
    if (function->workers && !function->workers->empty()) {
      const int most = function->workers->back();
      const int workers = first ? most : std::max(most - cores, 0);
      if (workers == 0) continue;
      if (wanted.workers) *wanted.workers = std::min(*wanted.workers, enough) + std::min(workers, enough);
      wanted.cpus = std::max(wanted.cpus, function->num_cpus);
    } else if (first) {
      wanted.workers.reset();
      // Of what uses no CPU there would be room for any number.
      wanted.cpus = std::max(wanted.cpus, function->num_cpus > 0 ? function->num_cpus : 1);
    }
  }
  return wanted;
}

}  // namespace headway::data
