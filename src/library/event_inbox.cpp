#include "library/event_inbox.hpp"

#include <algorithm>

namespace headway::library {

std::optional<events::Event> EventInbox::next(std::optional<std::chrono::duration<double>> timeout) {
  std::unique_lock lock(mutex_);
  wanted_ = true;
  const auto has_news = [this] { return ended_ || !events_.empty(); };
  if (timeout) {
    // Longer waits would overflow the clock.
    constexpr std::chrono::duration<double> wait_max = std::chrono::hours(24 * 365);
    changed_.wait_for(lock, std::min(*timeout, wait_max), has_news);
  } else {
    changed_.wait(lock, has_news);
  }
  if (events_.empty()) return std::nullopt;
  events::Event first = std::move(events_.front());
  events_.pop_front();
  return first;
}

bool EventInbox::is_wanted() {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void EventInbox::put(events::Event event) {
  const std::lock_guard lock(mutex_);
  if (events_.size() == kept_max) events_.pop_front();
  events_.push_back(std::move(event));
  changed_.notify_all();
}

void EventInbox::rank_line(int rank, std::string_view line) {
  if (is_wanted()) put(events::RankLine{rank, std::string(line)});
}

void EventInbox::helper_line(const std::string& helper, std::string_view line) {
  if (is_wanted()) put(events::HelperLine{helper, std::string(line)});
}

void EventInbox::remark(bool warning, const std::string& text) {
  if (!is_wanted()) return;
  if (warning) {
    put(events::RunWarning{text});
  } else {
    put(events::Notice{text});
  }
}

void EventInbox::report(const std::string& line_json) {
  if (is_wanted()) put(events::ReportRecorded{Json::parse(line_json).value()});
}

void EventInbox::attempt_failed(int attempt, const std::string& message, const std::map<int, std::string>& failures) {
  if (is_wanted()) put(events::AttemptFailed{attempt, message, failures});
}

void EventInbox::finished(const std::string& state, int attempts) {
  put(events::Finished{state, attempts});
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace headway::library
