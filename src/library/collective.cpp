#include <headway/collective.hpp>

#include "library/worker_bridge.hpp"

namespace headway {

void barrier() {
  if (library::worker_context() == nullptr) throw BadResult(library::outside_of_loop("headway::barrier()"));
  (void)library::worker_collective("barrier", 0, "").value();
}

std::string broadcast(std::string bytes, int root) {
  if (library::worker_context() == nullptr) throw BadResult(library::outside_of_loop("headway::broadcast()"));
  return library::worker_collective("broadcast", root, std::move(bytes)).value();
}

}  // namespace headway
