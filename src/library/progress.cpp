#include <headway/progress.hpp>

#include "library/worker_bridge.hpp"

namespace headway {

void count_step(std::uintptr_t optimizer) {
  if (library::worker_context() != nullptr) library::worker_counts_step(static_cast<std::int64_t>(optimizer));
}

namespace detail {

void count_collectives(double seconds) {
  if (library::worker_context() != nullptr) library::worker_was_in_collectives(seconds);
}

void see_collectives(bool visible) {
  if (library::worker_context() != nullptr) library::worker_sees_collectives(visible);
}

}  // namespace detail

}  // namespace headway
