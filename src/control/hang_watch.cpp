#include "control/hang_watch.hpp"

#include <algorithm>

namespace headway::control {
namespace {

std::optional<Duration> limit(const std::optional<double>& seconds) {
  if (!seconds || *seconds == 0) return std::nullopt;
  return from_seconds(*seconds);
}

}  // namespace

HangWatch::HangWatch(const FailureConfig& config)
    : warn_(limit(config.hang_warn_s)), fail_(limit(config.hang_fail_s)) {}

/// Neither storage that does not answer nor a process that SIGKILL does not end can be given up. A
/// stage of a data set may just be slow, as a sort of all rows is.
bool HangWatch::may_fail() const {
  return fail_ && !failed_ && wait_->kind != WaitKind::storage && wait_->kind != WaitKind::exit &&
         wait_->kind != WaitKind::data;
}

std::optional<Time> HangWatch::due() const {
  std::optional<Time> due = next_warning_;
  if (may_fail()) due = std::min(due.value_or(Time::max()), idle_since_ + *fail_);
  return due;
}

bool HangWatch::was_warned_of(const Wait& wait) const {
  return warned_ && wait.kind == WaitKind::data && wait_->kind == WaitKind::data && wait.since <= warned_at_;
}

HangWatch::Verdict HangWatch::observe(Time now, const std::optional<Wait>& wait) {
  Verdict verdict;
  if (wait && was_warned_of(*wait)) {
    wait_ = wait;
  } else if (wait != wait_) {
    if (wait_ && warned_) verdict.resolved = Resolved{*wait_, now - warned_since_};
    wait_ = wait;
    warned_ = failed_ = false;
    open_.reset();
    if (wait) idle_since_ = wait->since;
    next_warning_.reset();
    if (wait && warn_) next_warning_ = wait->since + *warn_;
    interval_ = 2 * warn_.value_or(Duration::zero());
  }
  if (!wait_ || open_) return verdict;
  const std::optional<Time> due = this->due();
  if (!due) return verdict;
  if (now >= *due) {
    open_ = ++examinations_;
    verdict.examine = open_;
  } else if (!armed_ || *armed_ > *due) {
    armed_ = due;
    verdict.wake_at = due;
  }
  return verdict;
}

HangWatch::Outcome HangWatch::examined(Time now, std::int64_t examination, bool busy) {
  last_answered_ = std::max(last_answered_, examination);
  if (open_ != examination) return Outcome::stale;
  open_.reset();
  if (busy) {
    idle_since_ = now;
    if (!next_warning_ || now < *next_warning_) return Outcome::busy;
  }
  if (may_fail() && now >= idle_since_ + *fail_) {
    failed_ = true;
    warned_ = false;
    next_warning_.reset();
    return Outcome::fail;
  }
  if (!warned_) warned_since_ = wait_->since;
  warned_ = true;
  warned_at_ = now;
  next_warning_ = now + interval_;
  interval_ *= 2;
  return Outcome::warn;
}

}  // namespace headway::control
