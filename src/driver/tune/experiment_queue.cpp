#include "driver/tune/experiment_queue.hpp"

#include "wire/fork_guard.hpp"

#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace headway::driver {

ExperimentQueue::ExperimentQueue() : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  wire::drop_in_children(event_fd_);
}

ExperimentQueue::~ExperimentQueue() {
  wire::keep_in_children(event_fd_);
  close(event_fd_);
}

bool ExperimentQueue::push(ExperimentEvent event) {
  const std::lock_guard lock(mutex_);
  const bool is_remark = std::holds_alternative<Notice>(event) || std::holds_alternative<RunWarning>(event);
  if (is_remark && ++remarks_ > remarks_max) return true;
  const bool is_report = std::holds_alternative<TrialReported>(event);
  if (is_report && !each_report_) {
    if (!replaces_report(event)) events_.push_back(std::move(event));
    return true;
  }
  if (is_report) full_ = ++reports_ >= reports_max;
  if (const auto* ended = std::get_if<TrialEnded>(&event)) newest_.erase(ended->trial_id);
  events_.push_back(std::move(event));
  if (!std::exchange(woken_, true)) {
    const std::uint64_t one = 1;
    (void)!write(event_fd_, &one, sizeof(one));
  }
  return !full_;
}

/// Where its trial has one that waits. Else it has the next place.
bool ExperimentQueue::replaces_report(ExperimentEvent& event) {
  const auto [newest, is_first] = newest_.try_emplace(std::get<TrialReported>(event).trial_id, events_.size());
  if (is_first) return false;
  events_[newest->second] = std::move(event);
  return true;
}

void ExperimentQueue::take_each_report(bool each) {
  const std::lock_guard lock(mutex_);
  each_report_ = each;
}

std::vector<ExperimentEvent> ExperimentQueue::take(bool& was_full) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_fd_, &count, sizeof(count));
  if (remarks_ > remarks_max) {
    events_.push_back(RunWarning{std::to_string(remarks_ - remarks_max) + " more notices and warnings are left out"});
  }
  remarks_ = reports_ = 0;
  woken_ = false;
  newest_.clear();
  was_full = std::exchange(full_, false);
  return std::exchange(events_, {});
}

}  // namespace headway::driver
