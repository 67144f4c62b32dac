#pragma once

#include "flow/budget.hpp"
#include "flow/functions/gpu_shares.hpp"
#include "wire/fd.hpp"

#include <arrow/result.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headway::flow {

/// How the process that forks function workers is started.
struct FunctionHostLaunch {
  /// Descriptor 3 is its end of the control socket.
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  ///< Added to this process's.
  /// Counts the memory that is shared with workers; outlives the host. Null: nobody counts.
  Budget* budget = nullptr;
  std::vector<std::string> gpus = {};  ///< For workers, as CUDA_VISIBLE_DEVICES names them.
};

/// A worker that was started.
struct StartedWorker {
  std::int64_t id = 0;
  wire::Fd link;  ///< A stream socket; its end is the worker's end.
};

/// Takes each line that a function prints, with the prefix of its worker. Called on one thread.
using OutputSink = std::function<void(const std::string& line)>;

/// The process that forks function workers (`python -m headway._worker.function_host`). It starts
/// with this object and imports what functions need while files are listed; it ends with this
/// object, and its workers with it. A host that dies is started again when the next worker is
/// wanted. Any thread may call its functions.
class FunctionHost {
 public:
  /// Starts the process without waiting for it. Lines that functions print go to `output`; none: to
  /// this process's standard output.
  static arrow::Result<std::shared_ptr<FunctionHost>> start(FunctionHostLaunch launch, OutputSink output = nullptr);

  FunctionHost(const FunctionHost&) = delete;
  FunctionHost& operator=(const FunctionHost&) = delete;
  ~FunctionHost();

  /// Imports the modules that a pickled function names, before workers are forked, so that they
  /// share them. Does not wait.
  void prepare(const std::string& pickled, const std::vector<std::string>& modules);

  /// Forks a worker; its output is shown with `name` before each line. Does not wait for it: a
  /// worker that could not be forked is a link that ends. Errors: the host cannot be started.
  /// When the worker has ended, `folder` (empty: none) is removed, even if this process is gone.
  /// `gpus` is its CUDA_VISIBLE_DEVICES; unset: that of the host.
  arrow::Result<StartedWorker> start_worker(const std::string& name, const std::string& folder = {},
                                            const std::optional<std::string>& gpus = {});

  /// In words how a worker ended whose link has ended: the signal or exit code and the last lines
  /// that it printed. Waits for the news of it, two seconds at most.
  std::string end_of(std::int64_t worker);

  /// Whether such a worker ended because the process that had forked it did. Waits as `end_of`.
  bool has_ended_with(std::int64_t worker) const;

  /// Null: nobody counts.
  Budget* budget() const;

  GpuShares& gpus() const;

  /// Kills a worker. One that has ended is no error.
  void kill_worker(std::int64_t worker);

 private:
  class State;
  explicit FunctionHost(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  std::thread thread_;  ///< Reads what workers print, and news of their ends.
};

}  // namespace headway::flow
