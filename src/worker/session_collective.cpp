#include "worker/session.hpp"

#include <chrono>
#include <utility>

/// Barriers, broadcasts, and what else all ranks ask for together.
namespace headway::worker {

Result<wire::Blob> Session::collective(const std::string& kind, int root, wire::Blob bytes) {
  const auto* rank = std::get_if<wire::RankRole>(&role_);
  const int world_size = rank == nullptr ? 1 : rank->world_size;
  if (root < 0 || root >= world_size) {
    return Error{ErrorKind::invalid_argument, kind + "() was given root " + std::to_string(root) +
                                                  "; allowed: a rank, 0 to " + std::to_string(world_size - 1)};
  }
  const bool is_root = context_.plan.rank == root;
  wire::Blob given = is_root ? std::move(bytes) : nullptr;
  Result<wire::Blob> gathered = gather(kind, root, given);
  return gathered && is_root ? Result<wire::Blob>(std::move(given)) : std::move(gathered);
}

Result<wire::Blob> Session::preemption_info(const std::string& asked_by) { return gather(asked_by, 0, nullptr); }

Result<wire::Blob> Session::gather(const std::string& kind, int root, const wire::Blob& given) {
  const auto refused = [&](const std::string& why) { return Error{ErrorKind::invalid_argument, kind + "() " + why}; };
  if (in_child()) return refused("was called in a child process of a rank; only the rank's own process can");
  if (function_over_) {
    return refused("was called after the training function had returned (by a thread that it left behind?)");
  }
  if (gathering_.exchange(true)) {
    return refused(
        "was called by two threads of one rank at once; it is for all ranks together, so one call must return before "
        "the next");
  }
  if (auto sent = send(wire::Arrived{collective_index_, kind, root}, given); !sent) {
    gathering_ = false;
    return sent.error();
  }
  ++collective_index_;
  const auto sent_at = std::chrono::steady_clock::now();
  Result<wire::Blob> gathered = await_gathered();
  steps_->waited(std::chrono::steady_clock::now() - sent_at);
  gathering_ = false;
  return gathered;
}

Result<wire::Blob> Session::await_gathered() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return gathered_.has_value() || over_; });
  if (!gathered_) return Error{ErrorKind::aborted, "the run has ended"};
  return *std::exchange(gathered_, std::nullopt);
}

}  // namespace headway::worker
