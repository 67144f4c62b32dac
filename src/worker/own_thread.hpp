#pragma once

#include <headway/result.hpp>

#include <functional>
#include <string>
#include <thread>

#include <sys/types.h>

namespace headway::worker {

/// A thread that takes no signals and is joined with its owner. A forked child has its owner's
/// memory, but not the thread: there it is forgotten.
class OwnThread {
 public:
  OwnThread() = default;
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
  ~OwnThread() { join(); }

  /// Waits for the former work first. `name` has at most 15 characters.
  /// Errors: those of wire::start_thread().
  Result<void> start(const std::string& name, std::function<void()> work);

  /// Waits for the work's end.
  void join();

 private:
  std::thread thread_;
  pid_t pid_ = 0;  ///< Of the process that has the thread.
};

}  // namespace headway::worker
