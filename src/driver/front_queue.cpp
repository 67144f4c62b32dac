#include "driver/front_queue.hpp"

#include "wire/fork_guard.hpp"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

namespace headway::driver {

namespace {

bool is_remark(const FrontEvent& event) {
  return std::holds_alternative<Notice>(event) || std::holds_alternative<RunWarning>(event);
}

/// Whether it is the place of the line that counts what was left out.
bool is_count(const FrontEvent& event) {
  const auto* warning = std::get_if<RunWarning>(&event);
  return warning != nullptr && warning->text.empty();
}

}  // namespace

FrontQueue::FrontQueue(std::function<void()> woken)
    : woken_(std::move(woken)), event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  wire::drop_in_children(event_fd_);
}

FrontQueue::~FrontQueue() {
  wire::keep_in_children(event_fd_);
  close(event_fd_);
}

void FrontQueue::signal() {
  if (std::exchange(signaled_, true)) return;
  if (woken_) return woken_();
  const std::uint64_t one = 1;
  (void)!write(event_fd_, &one, sizeof(one));
}

void FrontQueue::push(FrontEvent event) {
  const std::lock_guard lock(mutex_);
  if (is_remark(event) && ++remarks_ > remarks_max) {
    // The line that counts them stands where the first of them would.
    if (remarks_ == remarks_max + 1) events_.push_back(RunWarning{});
    return;
  }
  events_.push_back(std::move(event));
  signal();
}

void FrontQueue::push_latest(FrontEvent event) {
  const std::lock_guard lock(mutex_);
  std::erase_if(events_, [&](const FrontEvent& waiting) { return waiting.index() == event.index(); });
  events_.push_back(std::move(event));
  signal();
}

bool FrontQueue::push_line(int rank, std::string_view line) {
  return push_line(RankLine{rank, std::make_shared<const std::string>(line)}, line.size());
}

bool FrontQueue::push_line(const std::string& helper, std::string_view line) {
  return push_line(HelperLine{helper, std::make_shared<const std::string>(line)}, helper.size() + line.size());
}

bool FrontQueue::push_line(FrontEvent event, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  line_bytes_ += bytes + sizeof(FrontEvent);
  events_.push_back(std::move(event));
  full_ = line_bytes_ > line_bytes_max;
  signal();
  return !full_;
}

void FrontQueue::push_report(JsonObject line) {
  const std::lock_guard lock(mutex_);
  if (reports_ >= reports_max) {
    events_.erase(std::ranges::find_if(
        events_, [](const FrontEvent& event) { return std::holds_alternative<ReportRecorded>(event); }));
    --reports_;
  }
  ++reports_;
  events_.push_back(ReportRecorded{std::move(line)});
  // `Run` calls `wake` now and then, so that thousands of reports a second stay cheap.
}

void FrontQueue::wake() {
  const std::lock_guard lock(mutex_);
  if (!events_.empty()) signal();
}

std::vector<FrontEvent> FrontQueue::take(bool& was_full) {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!read(event_fd_, &count, sizeof(count));
  signaled_ = false;
  was_full = std::exchange(full_, false);
  line_bytes_ = 0;
  reports_ = 0;
  if (remarks_ > remarks_max) {
    std::ranges::find_if(events_, is_count)
        ->emplace<RunWarning>(
            RunWarning{std::to_string(remarks_ - remarks_max) +
                       " more notices and warnings came faster than they could be shown, and are left out"});
  }
  remarks_ = 0;
  return std::exchange(events_, {});
}

}  // namespace headway::driver
