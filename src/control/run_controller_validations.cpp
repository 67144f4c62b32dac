#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

/// Validations beside the training: from what rank 0 asked for to the checkpoint's metrics, and what ranks are told of checkpoints.
namespace headway::control {
namespace {

std::string short_value(const Json& value) {
  if (!value.is_double()) return json_text(value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value.get_double());
  return text.data();
}

/// "accuracy=0.91, loss=0.2"
std::string short_metrics(const JsonObject& metrics) {
  constexpr std::size_t shown_max = 6;
  std::string text;
  std::size_t shown = 0;
  for (const auto& metric : metrics) {
    if (!metric.value().is_primitive() || ++shown > shown_max) continue;
    text += (text.empty() ? "" : ", ") + std::string(metric.key()) + "=" + short_value(metric.value());
  }
  return text.empty() ? "no metrics" : text;
}

}  // namespace

void RunController::take_validation(const std::string& checkpoint, std::int64_t report, const ValidationTask& task) {
  if (const auto why = validations_.refusal(task)) {
    out_.push_back(Warn{checkpoint + " cannot be validated: " + *why});
    give_up(book_.settle(checkpoint, report, CheckpointStatus::VALIDATION_FAILED, {}).to_delete);
    return;
  }
  validations_.add(checkpoint, report, task);
}

void RunController::start_validations() {
  for (StartValidation& command : validations_.start()) out_.push_back(std::move(command));
  if (auto warning = validations_.behind_warning()) out_.push_back(Warn{std::move(*warning)});
}

/// What they would have found is found by the next driver of the run.
void RunController::stop_validations(const std::string& reason) {
  for (EndValidation& command : validations_.stop(reason)) out_.push_back(std::move(command));
}

void RunController::on(const ValidationStarted& event) {
  ValidationQueue::Validation* validation = validations_.running(event.number);
  if (validation == nullptr) return;
  validation->since = now_;
  if (const auto limit = validations_.timeout_s(*validation)) validation->timer = upkeep_timer(from_seconds(*limit));
}

void RunController::on(const ValidationFinished& event) {
  const ValidationQueue::Validation* running = validations_.running(event.number);
  if (running == nullptr) return;
  const ValidationQueue::Validation validation = *running;
  out_.push_back(Notify{validation.checkpoint + " is validated after " +
                        seconds_text(now_ - validation.since.value_or(now_)) + ": " + short_metrics(event.metrics)});
  settle_validation(validation, CheckpointStatus::VALIDATED, event.metrics);
}

void RunController::on(const ValidationFailed& event) {
  const ValidationQueue::Validation* running = validations_.running(event.number);
  if (running == nullptr) return;
  HEADWAY_MARK(validation_failed);
  const ValidationQueue::Validation validation = *running;
  out_.push_back(Warn{"the validation of " + validation.checkpoint + " failed; the training is not touched by it: " +
                      to_text(event.error) + "\n" + event.error.traceback});
  settle_validation(validation, CheckpointStatus::VALIDATION_FAILED, {});
}

/// What became of a validation is known: its process is told to end, and the checkpoint counts with what it has now.
void RunController::settle_validation(const ValidationQueue::Validation& validation, CheckpointStatus status,
                                      const JsonObject& metrics) {
  if (ValidationQueue::Validation* ending = validations_.settle(validation.number)) {
    const bool late = status == CheckpointStatus::VALIDATION_TIMEOUT;
    out_.push_back(EndValidation{validation.number, late ? EndMode::kill : EndMode::graceful,
                                 late ? "it took too long" : "its function is over"});
    if (!late) ending->timer = upkeep_timer(exit_grace);
  }
  CheckpointBook::Verdict verdict = book_.settle(validation.checkpoint, validation.report, status, metrics);
  // Before anything is deleted by it, so that a driver that dies in between does not validate again what decided that.
  if (!lost_) write_journal();
  give_up(verdict.to_delete);
  if (verdict.warning) out_.push_back(Warn{*verdict.warning});
  answer_questions();
}

void RunController::on(const ValidationExited& event) {
  const ValidationQueue::Exit exit = validations_.exit(event.number);
  if (exit.died) {
    const std::string what = "the process that validates " + exit.died->checkpoint + " " + to_text(event.status);
    if (exit.again) {
      HEADWAY_MARK(validation_again);
      out_.push_back(Notify{what + "; it is begun again (" + std::to_string(exit.died->deaths) + " of " +
                            std::to_string(validations_.config().max_retries) + " times)"});
    } else {
      HEADWAY_MARK(validation_died);
      const std::string tail = event.log_tail.empty() ? "" : "\nIts last output:\n" + event.log_tail;
      out_.push_back(Warn{what + "; the training is not touched by it" + tail});
      settle_validation(*exit.died, CheckpointStatus::VALIDATION_FAILED, {});
    }
  }
  start_validations();
  if (state_ == RunState::validating && validations_.idle()) close_run();
  write_last_journal();
}

bool RunController::on_validation_timer(std::int64_t timer) {
  ValidationQueue::Validation* found = validations_.of_timer(timer);
  if (found == nullptr) return false;
  found->timer.reset();
  if (found->ending) {
    HEADWAY_MARK(validation_does_not_exit);
    out_.push_back(EndValidation{found->number, EndMode::kill, "it did not exit in time"});
    return true;
  }
  HEADWAY_MARK(validation_timeout);
  const ValidationQueue::Validation validation = *found;
  out_.push_back(Warn{"the validation of " + validation.checkpoint + " was not through after " +
                      number_text(validations_.timeout_s(validation).value_or(0)) +
                      " s (timeout_s) and is stopped; the training is not touched by it"});
  settle_validation(validation, CheckpointStatus::VALIDATION_TIMEOUT, {});
  return true;
}

/// The training is over, for better or worse. What it held is free for the validations that are left.
void RunController::end_run() {
  if (state_ == RunState::validating) return;
  if (abort_reason_ || lost_ || validations_.idle()) {
    close_run();
    return;
  }
  state_ = RunState::validating;
  out_.push_back(ReleaseNodes{});
  if (!validations_.settled()) write_journal();
  if (!validations_.settled()) {
    out_.push_back(Notify{"The training is over; waiting for the validation of " + validations_.words()});
  }
  start_validations();
}

void RunController::give_up(const std::vector<std::string>& checkpoints) {
  for (const std::string& old : checkpoints) {
    deletions_.add(old, "only " + std::to_string(*spec_.checkpoint.num_to_keep) + " are kept (num_to_keep)");
  }
  delete_old();
}

void RunController::on(const CheckpointsAsked& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  Question question{event, {}};
  if (event.timeout_s) question.timer = upkeep_timer(from_seconds(*event.timeout_s));
  questions_.push_back(question);
  answer_questions();
}

/// Those whose time has come.
void RunController::answer_questions() {
  if (state_ != RunState::running || group_gone_) return;
  std::erase_if(questions_, [this](const Question& question) {
    const CheckpointsAsked& asked = question.asked;
    const bool committed =
        std::none_of(pending_.begin(), pending_.end(), [&](const auto& each) { return each.index < asked.reports; });
    const bool due = question.over || (committed && (!asked.validated || validations_.settled()));
    if (due) out_.push_back(TellCheckpoints{attempt_, asked.rank, asked.question, book_.kept()});
    return due;
  });
}

bool RunController::on_question_timer(std::int64_t timer) {
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& question) { return question.timer == timer; });
  if (found == questions_.end()) return false;
  found->over = true;
  answer_questions();
  return true;
}

}  // namespace headway::control
