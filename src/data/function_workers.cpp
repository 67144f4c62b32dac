#include "data/function_workers.hpp"

#include <algorithm>

namespace headway::data {

WantedWorkers workers_elsewhere(const Plan& plan, int cores, bool first) {
  WantedWorkers wanted{0, 0};
  for (const Node& node : plan.nodes) {
    const auto* function = node.as<FunctionNode>();
    if (function == nullptr || function->num_gpus > 0) continue;
    int workers = first ? any_number_of_workers : 0;
    if (function->workers && !function->workers->empty())
      workers = first ? function->workers->back() : std::max(function->workers->back() - cores, 0);
    if (workers == 0) continue;
    wanted.workers = std::min(wanted.workers + workers, any_number_of_workers);
    wanted.cpus = std::max(wanted.cpus, function->num_cpus);
  }
  return wanted;
}

}  // namespace headway::data
