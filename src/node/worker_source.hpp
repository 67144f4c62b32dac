#pragma once

#include "core/worker.hpp"
#include "node/lease_clock.hpp"
#include "wire/fd.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headway::node {

/// A worker's own ends of its session and its output.
struct WorkerEnds {
  wire::Fd session;
  wire::Fd output;
  wire::Fd errors = {};  ///< Not open: standard error goes where the output goes.
};

/// Where an agent's workers come from: its factory, or, inside a worker, the factory of its host.
class WorkerSource {
 public:
  struct Handlers {
    std::function<void(const std::vector<std::string>& problems)> ready;
    std::function<void(std::int64_t worker_id, std::int64_t pid, const std::string& exec_reason)> spawned;
    std::function<void(std::int64_t worker_id, const ExitStatus& status)> ended;
    /// The source is gone, and with it each of its workers that had not ended: `ended` follows for
    /// each.
    std::function<void()> lost;
    /// A line for the user, such as that a process does not end. Called even after the source has
    /// gone.
    std::function<void(const std::string& text)> notice = nullptr;
  };

  virtual ~WorkerSource() = default;

  /// Orders given before the source is ready wait.
  virtual void spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, WorkerEnds ends) = 0;
  virtual void signal(std::int64_t worker_id, int signal) = 0;

  /// Whether none of its workers lives.
  virtual bool idle() const = 0;

  /// All that it has started ends at this time, unless it hears of a later one: the agent may be
  /// stopped by then.
  virtual void hold_until(LeaseTime end) const = 0;

  /// Ends all that it has started; `ended` is called on the loop when nothing of it is left, after
  /// which nobody hears of it any more. The source itself may go at once: its processes end all the
  /// same.
  virtual void leave(std::function<void()> ended) = 0;

  /// The process that ends after all that it has started; 0 when that is not this process's to
  /// know.
  virtual pid_t guard_pid() const = 0;
  /// The process that starts workers; 0 when it is not there (yet), or not this process's to know.
  virtual pid_t process() const = 0;
};

}  // namespace headway::node
