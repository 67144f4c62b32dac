#include <headway/context.hpp>

#include "library/worker_bridge.hpp"

namespace headway {

namespace library {

Error outside_of_loop(const char* caller) {
  return {ErrorKind::invalid_argument,
          std::string(caller) +
              " was called outside of a training loop: it works in the function that is given to a "
              "Trainer, in its worker processes, while fit() runs"};
}

}  // namespace library

bool in_worker() { return library::worker_context() != nullptr; }

const Context& context() {
  if (!in_worker()) throw BadResult(library::outside_of_loop("headway::context()"));
  return *library::worker_context();
}

std::optional<Checkpoint> get_checkpoint() {
  if (!in_worker()) throw BadResult(library::outside_of_loop("headway::get_checkpoint()"));
  const std::optional<std::string> directory = library::worker_checkpoint();
  if (!directory) return std::nullopt;
  return Checkpoint::from_directory(*directory);
}

}  // namespace headway
