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

void ExperimentQueue::push(ExperimentEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() > 1) return;
  const std::uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof(one));
}

std::vector<ExperimentEvent> ExperimentQueue::take() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_fd_, &count, sizeof(count));
  return std::exchange(events_, {});
}

}  // namespace headway::driver
