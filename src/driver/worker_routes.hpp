#pragma once

#include "core/worker.hpp"
#include "wire/frame.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace headway::driver {

/// Hears of workers, on the driver's loop, in the order in which things happen: a worker's messages
/// and lines come before its exit.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  /// An error ends the worker's session, and the worker with it.
  virtual Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) = 0;
  virtual void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) = 0;
  /// False stops the worker's output until `resume_output`.
  virtual bool worker_line(std::int64_t worker_id, std::string_view line) = 0;
};

/// Who hears of which worker: a run of its ranks, a helper process of itself, a guest of the
/// workers that it has started. Gives workers their numbers. On the driver's loop alone.
class WorkerRoutes {
 public:
  /// A number that no worker has.
  std::int64_t number() { return next_++; }
  /// The number of a new worker of `listener`'s.
  std::int64_t add(std::weak_ptr<WorkerListener> listener) {
    const std::int64_t worker_id = number();
    listeners_[worker_id] = std::move(listener);
    return worker_id;
  }
  /// Null when nobody listens any more.
  std::shared_ptr<WorkerListener> find(std::int64_t worker_id) const {
    const auto found = listeners_.find(worker_id);
    return found == listeners_.end() ? nullptr : found->second.lock();
  }
  /// The same for a worker that has exited: nobody hears of it from now on.
  std::shared_ptr<WorkerListener> remove(std::int64_t worker_id) {
    const auto removed = listeners_.extract(worker_id);
    return removed.empty() ? nullptr : removed.mapped().lock();
  }

 private:
  std::map<std::int64_t, std::weak_ptr<WorkerListener>> listeners_;
  std::int64_t next_ = 1;
};

}  // namespace headway::driver
