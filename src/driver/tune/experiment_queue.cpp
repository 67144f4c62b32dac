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
  if (std::holds_alternative<TrialReported>(event)) full_ = ++reports_ >= reports_max;
  events_.push_back(std::move(event));
  if (events_.size() == 1) {
    const std::uint64_t one = 1;
    (void)!write(event_fd_, &one, sizeof(one));
  }
  return !full_;
}

std::vector<ExperimentEvent> ExperimentQueue::take(bool& was_full) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_fd_, &count, sizeof(count));
  if (remarks_ > remarks_max) {
    events_.push_back(RunWarning{std::to_string(remarks_ - remarks_max) + " more notices and warnings are left out"});
  }
  remarks_ = reports_ = 0;
  was_full = std::exchange(full_, false);
  return std::exchange(events_, {});
}

}  // namespace headway::driver
