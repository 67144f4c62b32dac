#pragma once

#include "worker/own_thread.hpp"

#include <atomic>
#include <functional>

namespace headway::worker {

/// Answers one kind of question, on its own thread; while one is being answered others are not
/// heard. An answer may wait for an interpreter's lock, so it is destroyed by a thread that does
/// not hold that lock, or not at all: a worker ends by `_exit`.
class Teller {
 public:
  void answer(std::function<void()> tell);
  /// Waits for the answer that is under way.
  void join() { thread_.join(); }

 private:
  std::atomic<bool> busy_{false};
  OwnThread thread_;
};

}  // namespace headway::worker
