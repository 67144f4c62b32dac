#include <headway/context.hpp>

#include "library/worker_bridge.hpp"

namespace headway {

namespace library {

Error outside_of_loop(const char* caller) {
  if (in_validation()) {
    return {ErrorKind::invalid_argument,
            std::string(caller) +
                " was called in a validation function: it works in the training loop; what a validation finds is what "
                "its function returns"};
  }
  return {ErrorKind::invalid_argument,
          std::string(caller) +
              " was called outside of a training loop: it works in the function that is given to a "
              "Trainer, in its worker processes, while fit() runs"};
}

}  // namespace library

bool in_worker() { return library::worker_context() != nullptr || library::in_validation(); }

const Context& context() {
  const Context* known = library::worker_context();
  if (known == nullptr) throw BadResult(library::outside_of_loop("headway::context()"));
  return *known;
}

const Context& process_context(const char* caller) {
  if (library::in_validation()) return library::validation_context();
  const Context* known = library::worker_context();
  if (known == nullptr) throw BadResult(library::outside_of_loop(caller));
  return *known;
}

std::optional<Checkpoint> get_checkpoint() {
  if (library::worker_context() == nullptr) {
    throw BadResult(library::outside_of_loop("headway::get_checkpoint()"));
  }
  const std::optional<std::string> directory = library::worker_checkpoint();
  if (!directory) return std::nullopt;
  return Checkpoint::from_directory(*directory);
}

}  // namespace headway
