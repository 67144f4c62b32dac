#include "control/validation_flow.hpp"

#include "control/failure_text.hpp"
#include "control/marks.hpp"

#include <array>
#include <cstdio>

namespace headway::control {
namespace {

std::string short_value(const Json& value) {
  if (value.is_object()) return value.get_object().empty() ? "{}" : "{...}";
  if (value.is_array()) return value.get_array().empty() ? "[]" : "[...]";
  if (!value.is_double()) return json_text(value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value.get_double());
  return text.data();
}

/// "accuracy=0.91, per_class={...}"
std::string short_metrics(const JsonObject& metrics) {
  constexpr std::size_t shown_max = 6;
  std::string text;
  std::size_t shown = 0;
  for (const auto& metric : metrics) {
    if (++shown > shown_max) continue;
    text += (text.empty() ? "" : ", ") + std::string(metric.key()) + "=" + short_value(metric.value());
  }
  return text.empty() ? "no metrics" : text;
}

Timer timer_of(std::int64_t number) { return {TimerPurpose::validation, number}; }

}  // namespace

std::optional<ValidationFlow::Outcome> ValidationFlow::add(const std::string& checkpoint, std::int64_t report,
                                                           const ValidationTask& task, Outbox& out) {
  if (const auto why = queue_.refusal(task)) {
    out.push(Warn{checkpoint + " cannot be validated: " + *why});
    return Outcome{checkpoint, report, CheckpointStatus::VALIDATION_FAILED};
  }
  queue_.add(checkpoint, report, task);
  return std::nullopt;
}

void ValidationFlow::start(Outbox& out) {
  for (StartValidation& command : queue_.start()) out.push(std::move(command));
  if (auto warning = queue_.behind_warning()) out.push(Warn{std::move(*warning)});
}

void ValidationFlow::forget(const std::string& checkpoint, Outbox& out) {
  for (EndValidation& command : queue_.forget(checkpoint)) out.push(std::move(command));
}

void ValidationFlow::stop(const std::string& reason, Outbox& out) {
  for (EndValidation& command : queue_.stop(reason)) {
    out.cancel_timer(timer_of(command.number));
    out.push(std::move(command));
  }
}

void ValidationFlow::on(const ValidationStarted& event, Outbox& out) {
  ValidationQueue::Validation* validation = queue_.running(event.number);
  if (validation == nullptr) return;
  validation->since = out.now();
  if (const auto limit = queue_.timeout_s(*validation)) out.set_timer(timer_of(event.number), from_seconds(*limit));
}

std::optional<ValidationFlow::Outcome> ValidationFlow::on(const ValidationFinished& event, Outbox& out) {
  const ValidationQueue::Validation* running = queue_.running(event.number);
  if (running == nullptr) return std::nullopt;
  const std::string took = seconds_text(out.now() - running->since.value_or(out.now()));
  out.push(Notify{running->checkpoint + " is validated after " + took + ": " + short_metrics(event.metrics)});
  return settle(*running, CheckpointStatus::VALIDATED, event.metrics, out);
}

std::optional<ValidationFlow::Outcome> ValidationFlow::on(const ValidationFailed& event, Outbox& out) {
  const ValidationQueue::Validation* running = queue_.running(event.number);
  if (running == nullptr) return std::nullopt;
  HEADWAY_MARK(validation_failed);
  out.push(Warn{"the validation of " + running->checkpoint +
                " failed; the training is not touched by it: " + to_text(event.error) + "\n" + event.error.traceback});
  return settle(*running, CheckpointStatus::VALIDATION_FAILED, {}, out);
}

std::optional<ValidationFlow::Outcome> ValidationFlow::on(const ValidationExited& event, Outbox& out) {
  const ValidationQueue::Exit exit = queue_.exit(event.number);
  out.cancel_timer(timer_of(event.number));
  if (!exit.died) return std::nullopt;
  const std::string what = "the process that validates " + exit.died->checkpoint + " " + to_text(event.status);
  if (exit.again) {
    HEADWAY_MARK(validation_again);
    out.push(Notify{what + "; it is begun again (" + std::to_string(exit.died->deaths) + " of " +
                    std::to_string(queue_.config().max_retries) + " times)"});
    return std::nullopt;
  }
  HEADWAY_MARK(validation_died);
  const std::string tail = event.log_tail.empty() ? "" : "\nIts last output:\n" + event.log_tail;
  out.push(Warn{what + "; the training is not touched by it" + tail});
  return settle(*exit.died, CheckpointStatus::VALIDATION_FAILED, {}, out);
}

std::optional<ValidationFlow::Outcome> ValidationFlow::time_is_over(std::int64_t number, Outbox& out) {
  const ValidationQueue::Validation* found = queue_.with_process(number);
  if (found == nullptr) return std::nullopt;
  if (found->ending) {
    HEADWAY_MARK(validation_does_not_exit);
    out.push(EndValidation{number, EndMode::kill, "it did not exit in time"});
    return std::nullopt;
  }
  HEADWAY_MARK(validation_timeout);
  out.push(Warn{"the validation of " + found->checkpoint + " was not through after " +
                number_text(queue_.timeout_s(*found).value_or(0)) +
                " s (timeout_s) and is stopped; the training is not touched by it"});
  return settle(*found, CheckpointStatus::VALIDATION_TIMEOUT, {}, out);
}

/// The outcome of a validation is known: its process is ordered to end.
ValidationFlow::Outcome ValidationFlow::settle(const ValidationQueue::Validation& validation, CheckpointStatus status,
                                               JsonObject metrics, Outbox& out) {
  Outcome outcome{validation.checkpoint, validation.report, status, std::move(metrics)};
  const std::int64_t number = validation.number;
  out.cancel_timer(timer_of(number));
  if (queue_.settle(number) == nullptr) return outcome;
  const bool late = status == CheckpointStatus::VALIDATION_TIMEOUT;
  out.push(EndValidation{number, late ? EndMode::kill : EndMode::graceful,
                         late ? "it took too long" : "its function has returned"});
  if (!late) out.set_timer(timer_of(number), exit_grace);
  return outcome;
}

}  // namespace headway::control
