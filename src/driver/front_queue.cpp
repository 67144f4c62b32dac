#include "driver/front_queue.hpp"

#include "core/json.hpp"
#include "wire/fork_guard.hpp"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

namespace headway::driver {

FrontQueue::FrontQueue() : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { wire::drop_in_children(event_fd_); }

FrontQueue::~FrontQueue() {
  wire::keep_in_children(event_fd_);
  close(event_fd_);
}

void FrontQueue::signal() {
  if (std::exchange(signaled_, true)) return;
  const std::uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof(one));
}

void FrontQueue::push(FrontEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  signal();
}

bool FrontQueue::push_line(int rank, std::string_view line) {
  return push_line_of("{\"rank\": " + std::to_string(rank) + "}", line);
}

bool FrontQueue::push_validation_line(const std::string& checkpoint, std::string_view line) {
  return push_line_of(json_text({{"validation", checkpoint}}), line);
}

bool FrontQueue::push_line_of(std::string writer, std::string_view line) {
  const std::lock_guard lock(mutex_);
  line_bytes_ += line.size() + writer.size();
  events_.push_back({"line", std::move(writer), std::make_shared<const std::string>(line)});
  full_ = line_bytes_ > line_bytes_max;
  signal();
  return !full_;
}

void FrontQueue::push_report(const std::string& json) {
  const std::lock_guard lock(mutex_);
  if (reports_ >= reports_max) {
    const auto oldest =
        std::find_if(events_.begin(), events_.end(), [](const FrontEvent& e) { return e.kind == "report"; });
    events_.erase(oldest);
    --reports_;
  }
  ++reports_;
  events_.push_back({"report", json, nullptr});
  // Reports wake nobody by themselves: `Run` wakes the display now and then, so that thousands of reports a second stay cheap.
}

std::vector<FrontEvent> FrontQueue::take(bool& was_full) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_fd_, &count, sizeof(count));
  signaled_ = false;
  was_full = std::exchange(full_, false);
  line_bytes_ = 0;
  reports_ = 0;
  return std::exchange(events_, {});
}

}  // namespace headway::driver
