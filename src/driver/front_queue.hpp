#pragma once

#include "driver/front_events.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace headway::driver {

/// From the driver's loop to the thread that serves a run. A descriptor becomes readable when there
/// is something to take, so the waiting thread can wait in the way its language has for that, and
/// Ctrl-C reaches it at once.
class FrontQueue {
 public:
  /// With `woken`, that is called (under the queue's lock) rather than the descriptor made
  /// readable.
  explicit FrontQueue(std::function<void()> woken = nullptr);
  ~FrontQueue();
  FrontQueue(const FrontQueue&) = delete;
  FrontQueue& operator=(const FrontQueue&) = delete;

  int event_fd() const { return event_fd_; }

  /// Of notices and warnings, 1000 wait at most; those that come after are left out, and one line
  /// says how many.
  void push(FrontEvent event);

  /// Adds what replaces the one of its kind that waits: how something looks now.
  void push_latest(FrontEvent event);

  /// Adds a line of a rank's output. False when the queue is full: the writer should wait for
  /// `take`.
  bool push_line(int rank, std::string_view line);
  /// The same for a process that is no rank.
  bool push_line(const std::string& helper, std::string_view line);

  /// Adds an accepted report for display. The display may miss some when they come faster than it
  /// takes them (then they are counted), never the last one. Wakes nobody.
  void push_report(JsonObject line);
  /// Wakes who waits, if there is something to take.
  void wake();

  /// All there is, in order. `was_full` says that writers wait.
  std::vector<FrontEvent> take(bool& was_full);

 private:
  bool push_line(FrontEvent event, std::size_t bytes);
  void signal();

  static constexpr std::size_t line_bytes_max = 1 << 20;
  static constexpr std::size_t reports_max = 64;
  static constexpr std::size_t remarks_max = 1000;

  std::mutex mutex_;
  std::function<void()> woken_;
  int event_fd_ = -1;
  std::vector<FrontEvent> events_;
  std::size_t line_bytes_ = 0;
  std::size_t reports_ = 0;
  /// Notices and warnings since the last `take`, with those that were left out.
  std::size_t remarks_ = 0;
  bool full_ = false;
  bool signaled_ = false;
};

}  // namespace headway::driver
