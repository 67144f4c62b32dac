#pragma once

#include <headway/run_event.hpp>

#include "library/run_listener.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace headway::library {

/// The events that a run's handle has for whoever asks. Nothing is kept before the first question,
/// except for the end; of what is not taken, the newest 10 000. Any thread.
class EventInbox : public RunListener {
 public:
  /// Waits for the next event. Nothing after `timeout`, and once the end was returned.
  std::optional<events::Event> next(std::optional<std::chrono::duration<double>> timeout);

  void rank_line(int rank, std::string_view line) override;
  void helper_line(const std::string& helper, std::string_view line) override;
  void remark(bool warning, const std::string& text) override;
  void report(const std::string& line_json) override;
  void attempt_failed(int attempt, const std::string& message, const std::map<int, std::string>& failures) override;
  void finished(const std::string& state, int attempts) override;

 private:
  static constexpr std::size_t kept_max = 10'000;

  bool is_wanted();
  void put(events::Event event);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<events::Event> events_;
  bool wanted_ = false;
  bool ended_ = false;
};

}  // namespace headway::library
