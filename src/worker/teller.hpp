#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace headway::worker {

/// Answers one kind of question, on a thread of its own; while one is being answered others are not heard.
class Teller {
 public:
  ~Teller();
  void answer(std::function<void()> tell);
  /// Waits for the answer that is under way.
  void join();

 private:
  std::atomic<bool> busy_{false};
  std::thread thread_;
};

}  // namespace headway::worker
