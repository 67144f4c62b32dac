#include <headway/preemption.hpp>

#include "library/worker_bridge.hpp"

namespace headway {

std::optional<PreemptionInfo> preemption_info() {
  if (library::worker_context() == nullptr) throw BadResult(library::outside_of_loop("headway::preemption_info()"));
  return library::worker_preemption_info().value();
}

}  // namespace headway
