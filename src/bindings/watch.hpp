#pragma once

#include "bindings/module.hpp"
#include "driver/watch.hpp"

#include <unistd.h>

namespace headway::bindings {

/// A look at a driver, as Python has it. In a forked child of the process that made it, it is left
/// alone: a thread that is not there may hold its lock.
class PyWatch {
 public:
  explicit PyWatch(std::shared_ptr<driver::Watch> watch) : watch_(std::move(watch)), pid_(getpid()) {}
  PyWatch(PyWatch&&) = default;
  ~PyWatch() {
    if (watch_ && getpid() != pid_) (void)new (std::nothrow) std::shared_ptr<driver::Watch>(std::move(watch_));
  }

  std::shared_ptr<const driver::Snapshot> next(std::chrono::milliseconds limit) { return watch_->next(limit); }

 private:
  std::shared_ptr<driver::Watch> watch_;
  pid_t pid_;
};

}  // namespace headway::bindings
