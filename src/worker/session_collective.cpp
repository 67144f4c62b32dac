#include "worker/session.hpp"

#include <utility>

/// Barriers and broadcasts.
namespace headway::worker {

Result<wire::Blob> Session::collective(const std::string& kind, int root, wire::Blob bytes) {
  const auto refused = [&](const std::string& why) { return Error{ErrorKind::invalid_argument, kind + "() " + why}; };
  if (root < 0 || root >= context_.world_size) {
    return refused("was given root " + std::to_string(root) + "; allowed: a rank, 0 to " +
                   std::to_string(context_.world_size - 1));
  }
  if (in_child()) return refused("was called in a child process of a rank; only the rank's own process can");
  if (function_over_) {
    return refused("was called after the training function had returned (by a thread that it left behind?)");
  }
  if (gathering_.exchange(true)) {
    return refused(
        "was called by two threads of one rank at once; it is for all ranks together, so one call must return before "
        "the next");
  }
  const bool is_root = context_.plan.rank == root;
  wire::Blob given = is_root ? std::move(bytes) : nullptr;
  if (auto sent = send(wire::Arrived{collective_index_, kind, root}, given); !sent) {
    gathering_ = false;
    return sent.error();
  }
  ++collective_index_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return gathered_.has_value() || over_; });
  if (!gathered_) {
    gathering_ = false;
    return Error{ErrorKind::aborted, "the run is over"};
  }
  wire::Blob gathered = *std::exchange(gathered_, std::nullopt);
  gathering_ = false;
  return is_root ? given : gathered;
}

}  // namespace headway::worker
