#pragma once

#include "control/failure_policy.hpp"
#include "control/run_outcome.hpp"
#include "control/run_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Why a run ends, and why its attempts have ended: what failed, who asked for the end, what is
/// lost.
class RunEnd {
 public:
  // The failure of the current attempt, or the one that ends the run:

  void fail(RunFailure failure) { failure_ = std::move(failure); }
  /// One that counts as `cause`.
  void fail(RunFailure failure, FailureCause cause) {
    failure_ = std::move(failure);
    cause_ = cause;
  }
  /// The failure is overcome, or counts no more.
  void forget_failure() { failure_.reset(); }
  const std::optional<RunFailure>& failure() const { return failure_; }
  FailureCause cause() const { return cause_; }
  /// Says also why no attempt follows.
  void add_words(const std::string& words) { failure_->message += words; }

  // Ends that somebody asks for. The first reason of a kind stays.

  void abort(std::string reason) { abort_reason_ = std::move(reason); }
  const std::optional<std::string>& abort_reason() const { return abort_reason_; }
  void stop(std::string reason) { stop_reason_ = std::move(reason); }
  const std::optional<std::string>& stop_reason() const { return stop_reason_; }
  /// The driver is to end, and the run with it.
  void preempt_driver() { driver_preempted_ = true; }
  bool driver_preempted() const { return driver_preempted_; }
  void fail_by_callback() { callback_failed_ = true; }
  bool callback_failed() const { return callback_failed_; }
  /// The folder is gone or somebody else's: nothing more is written to it. False when that was
  /// known.
  bool lose_folder() { return !std::exchange(folder_lost_, true); }
  bool folder_lost() const { return folder_lost_; }

  /// Whether no attempt follows, whatever the budget of failures is.
  bool decided() const { return abort_reason_ || stop_reason_ || callback_failed_ || folder_lost_; }

  // Attempts:

  /// Takes the first reason for each attempt's end.
  void end_attempt(int attempt, const std::string& reason) {
    if (attempt_ends_.size() < static_cast<std::size_t>(attempt)) attempt_ends_.push_back(reason);
  }
  /// The attempts of earlier drivers, as far as they said why; the others ended for `reason`.
  void take_up(std::vector<std::string> ends, int attempts, const std::string& reason) {
    attempt_ends_ = std::move(ends);
    while (attempt_ends_.size() < static_cast<std::size_t>(attempts)) attempt_ends_.push_back(reason);
  }
  /// Each attempt's, in order.
  const std::vector<std::string>& attempt_ends() const { return attempt_ends_; }

  // The outcome:

  RunState state() const {
    return abort_reason_ ? RunState::aborted : failure_ ? RunState::failed : RunState::finished;
  }
  /// As journals have it: "finished", "errored" or "aborted".
  const char* word() const { return abort_reason_ ? "aborted" : failure_ ? "errored" : "finished"; }
  RunOutcome outcome(std::vector<KeptCheckpoint> checkpoints, int attempts) const {
    RunOutcome outcome{word(), failure_, std::move(checkpoints), attempts, 0};
    if (abort_reason_) outcome.failure = failure_of(FailureSource::asked, ErrorKind::aborted, *abort_reason_);
    return outcome;
  }

 private:
  std::optional<RunFailure> failure_;
  FailureCause cause_ = FailureCause::group;
  std::optional<std::string> abort_reason_;
  std::optional<std::string> stop_reason_;
  bool driver_preempted_ = false;
  bool callback_failed_ = false;
  bool folder_lost_ = false;
  std::vector<std::string> attempt_ends_;
};

}  // namespace headway::control
