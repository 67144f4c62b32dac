#include "control/failure_text.hpp"
#include "core/fault_point.hpp"
#include "driver/flat_metrics.hpp"
#include "driver/runtime.hpp"
#include "driver/tune/experiment.hpp"

/// How the controller's commands are carried out, and what the trials' runs say.
namespace headway::driver {

namespace asio = boost::asio;
namespace tune = control::tune;

namespace {

const char* decision_name(tune::Verdict verdict) {
  switch (verdict) {
    case tune::Verdict::stop: return "stop";
    case tune::Verdict::pause: return "pause";
    default: return "continue";
  }
}

/// Booleans count, as in Python.
std::optional<double> number_in(const Json& value) {
  if (value.is_bool()) return value.get_bool() ? 1 : 0;
  if (value.is_number()) return value.to_number<double>();
  return std::nullopt;
}

/// Of the names that are needed, those that a report has as numbers.
std::map<std::string, double> numbers_of(const JsonObject& line, const std::set<std::string>& needed) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : flat_metrics(line)) {
    const std::optional<double> number = needed.contains(name) ? number_in(*value) : std::nullopt;
    if (number) numbers.emplace(name, *number);
  }
  return numbers;
}

std::string names_of(const JsonObject& metrics) {
  std::string names;
  for (const auto& [name, value] : flat_metrics(metrics)) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

void Experiment::carry_out(const tune::AskSuggestions& command) {
  // The front end may have said so while the question was on its way through the journal.
  if (!controller_.search_over()) front_->push(SuggestionsWanted{command.count});
}

void Experiment::carry_out(const tune::StartTrial& command) {
  const tune::Trial& trial = controller_.trials().at(static_cast<std::size_t>(command.trial));
  slots_[command.trial] = {
      .trial_id = trial.trial_id, .start = command.start, .reports = trial.reports, .held = command.held};
  front_->push(
      TrialStartWanted{trial.trial_id, command.start, trial.config, trial.folder, command.resumes, command.copied});
}

void Experiment::carry_out(const tune::ReleaseTrial& command) {
  const auto found = slots_.find(command.trial);
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  slot.held = false;
  if (slot.run) slot.run->let_in();
}

void Experiment::carry_out(const tune::AnswerTrial& command) {
  const auto found = slots_.find(command.trial);
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  const auto line = slot.lines.extract(command.number);
  if (line.empty()) return;
  const auto metrics = slot.metrics.extract(command.number);
  const bool has_room = front_->push(TrialReported{slot.trial_id, command.number, line.mapped(),
                                                   decision_name(command.decision.verdict), command.decision.reason,
                                                   metrics.empty() ? std::vector<JsonObject>() : metrics.mapped()});
  const bool stops = command.decision.verdict != tune::Verdict::go_on;
  if (stops && !std::exchange(slot.stopping, true)) slot.run->stop(command.decision.reason);
  if (command.number > slot.earlier_reports) {
    if (has_room || stops) {
      slot.run->report_heard();
    } else {
      held_.push_back(slot.run);
    }
  } else if (command.number == slot.earlier_reports && !slot.stopping) {
    set_up(slot, *slot.ready_ranks);
  }
}

void Experiment::carry_out(const tune::AskVerdict& command) {
  const auto slot = slots_.find(command.trial);
  if (slot == slots_.end()) return;
  front_->push(VerdictAsked{slot->second.trial_id, command.number, slot->second.lines[command.number],
                            decision_name(command.decision.verdict), command.decision.reason});
}

void Experiment::carry_out(const tune::StopTrial& command) {
  const auto found = slots_.find(command.trial);
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  if (std::exchange(slot.stopping, true)) return;
  if (!slot.run) {
    handle(tune::TrialGone{command.trial, command.aborts ? "aborted" : "finished", command.reason});
  } else if (command.aborts) {
    slot.run->abort(command.reason);
  } else {
    slot.run->stop(command.reason);
  }
}

void Experiment::carry_out(const tune::TellEnd& command) {
  TrialEnded ended;
  ended.trial_id = controller_.trials().at(static_cast<std::size_t>(command.trial)).trial_id;
  controller_.forget_ended(command.trial);  // Whoever wants more reads the journal.
  ended.state = command.state;
  ended.reason = command.reason;
  if (auto slot = slots_.extract(command.trial); !slot.empty()) {
    ended.value = std::move(slot.mapped().value);
    ended.exception = std::move(slot.mapped().exception);
    if (auto& finished = slot.mapped().finished) {
      ended.outcome = std::move(finished->outcome);
      ended.last_report_json = std::move(finished->last_report_json);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    runs_.erase(ended.trial_id);
  }
  front_->push(std::move(ended));
}

void Experiment::carry_out(const tune::SetTimer& command) {
  timer_.expires_after(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::max(command.at - now(), Duration::zero())));
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failure) {
    if (!failure) self->handle(tune::TimeCame{});
  });
}

/// Whoever hears of the end can have the folder: no run is left that writes there.
void Experiment::carry_out(const tune::FinishExperiment& command) {
  finish_ = command;
  see_off();
}

void Experiment::finish(const tune::FinishExperiment& command) {
  closed_ = true;
  leaving_.clear();
  held_.clear();
  timer_.cancel();
  slots_.clear();
  {
    const std::lock_guard lock(mutex_);
    runs_.clear();
  }
  runtime_->forget_experiment(id_);
  asio::post(storage_, [self = shared_from_this(), command] {
    self->journal_.reset();
    self->lock_.reset();
    self->front_->push(ExperimentEnded{command.state, command.reason, command.all_ended});
  });
}

/// The front end has started a trial's run.
void Experiment::attach(const std::string& trial_id, int start, const std::shared_ptr<Run>& run, bool hooks) {
  --attaching_;
  Slot* slot = closed_ || failure_ ? nullptr : slot_of(trial_id, start);
  if (slot == nullptr || slot->run || slot->stopping) {
    run->abort("the trial has ended");
    if (!closed_) leaving_.push_back(run);
    return see_off();
  }
  slot->run = run;
  slot->hooks = hooks;
  if (!slot->held) run->let_in();
  if (auto pinned = controller_.pinned(number_of(trial_id)); !pinned.empty()) run->pin(std::move(pinned));
  drain(trial_id, start);
}

void Experiment::see_off() {
  if (closed_) return;
  std::erase_if(leaving_, [](const std::shared_ptr<Run>& run) {
    return std::ranges::any_of(run->take_events(),
                               [](const FrontEvent& event) { return std::holds_alternative<Finished>(event); });
  });
  if (!leaving_.empty() || attaching_ > 0) return;
  if (finish_) {
    finish(*finish_);
  } else if (failure_) {
    end_failed();
  }
}

void Experiment::drain(const std::string& trial_id, int start) {
  if (!leaving_.empty()) see_off();
  Slot* slot = slot_of(trial_id, start);
  if (slot == nullptr || !slot->run) return;
  for (const FrontEvent& event : slot->run->take_events()) {
    std::visit([&](const auto& what) { on(*slot, what); }, event);
    if (closed_) return;
  }
}

void Experiment::on(Slot& slot, const SetupAsked& event) {
  slot.exception = nullptr;  // What an earlier attempt raised is not why this one fails.
  slot.raised_rank = -1;
  if (std::exchange(slot.ready, true)) return set_up(slot, event);
  front_->push(TrialStarted{slot.trial_id, slot.start});
  handle(tune::TrialReady{number_of(slot.trial_id)});
  if (slot.start == 1) return set_up(slot, event);
  slot.ready_ranks = event;
  slot.run->read_results(slot.reports,
                         [self = shared_from_this(), trial_id = slot.trial_id, start = slot.start](
                             std::vector<JsonObject> lines) { self->catch_up(trial_id, start, std::move(lines)); });
}

void Experiment::catch_up(const std::string& trial_id, int start, std::vector<JsonObject> lines) {
  Slot* slot = closed_ ? nullptr : slot_of(trial_id, start);
  if (slot == nullptr) return;
  slot->earlier_reports = slot->reports + static_cast<std::int64_t>(lines.size());
  for (const JsonObject& line : lines) report(*slot, line, {});
  if (lines.empty()) set_up(*slot, *slot->ready_ranks);
}

void Experiment::set_up(Slot& slot, const SetupAsked& event) {
  if (slot.hooks) {
    front_->push(TrialHook{slot.trial_id, event.attempt, event.workers, "setup"});
  } else {
    slot.run->setup_finished(event.attempt, std::nullopt);
  }
}

void Experiment::on(Slot& slot, const TeardownAsked& event) {
  if (slot.hooks) {
    front_->push(TrialHook{slot.trial_id, event.attempt, 0, "teardown"});
  } else {
    slot.run->teardown_finished(event.attempt);
  }
}

void Experiment::on(Slot& slot, const CallbackReport& event) { report(slot, event.line, event.metrics); }

/// `metrics`: by rank; none when only the line is known.
void Experiment::report(Slot& slot, const JsonObject& line, const std::vector<JsonObject>& metrics) {
  const std::set<std::string>& needed = controller_.needed_numbers();
  tune::TrialReported reported{number_of(slot.trial_id), ++slot.reports, numbers_of(line, needed)};
  if (reported.numbers.size() < needed.size()) reported.there = names_of(metrics.empty() ? line : metrics.front());
  const Json* checkpoint = line.if_contains("checkpoint_dir_name");
  if (checkpoint != nullptr && checkpoint->is_string()) reported.checkpoint = std::string(checkpoint->get_string());
  if (std::ranges::any_of(slots_, [](const auto& at) { return at.second.waits_for_slots; })) {
    reported.others_wait = true;
  }
  slot.lines[slot.reports] = line;
  if (!metrics.empty()) slot.metrics[slot.reports] = metrics;
  handle(reported);
}

void Experiment::on(Slot& slot, const CallExecuted& event) { front_->push(TrialCall{slot.trial_id, event}); }

void Experiment::on(Slot& slot, const FunctionReturned& event) { slot.value = event.value; }

void Experiment::on(Slot& slot, const FunctionRaised& event) {
  slot.exception = event.exception;
  slot.raised_rank = event.rank;
}

void Experiment::on(Slot& slot, const AttemptFailed& event) {
  front_->push(TrialAttemptFailed{slot.trial_id, event, slot.raised_rank, slot.exception});
}

void Experiment::on(Slot& slot, const RunWarning& event) {
  front_->push(RunWarning{"trial " + slot.trial_id + ": " + event.text});
}

void Experiment::on(Slot& slot, const Finished& event) {
  slot.finished = event;
  fault_point("experiment.gone");
  if (failure_) return end_failed();
  const std::int64_t number = number_of(slot.trial_id);
  const control::RunOutcome& outcome = event.outcome;
  const bool preempted =
      outcome.failure && outcome.failure->preemption && outcome.failure->preemption->of_driver.value_or(false);
  if (preempted) {
    handle(tune::ExperimentStopAsked{"the driver received SIGTERM"});
    handle(tune::TrialGone{number, "aborted", control::headline(*outcome.failure)});
    return;
  }
  const bool failed = outcome.state == "errored" && outcome.failure;
  const bool aborted = outcome.state == "aborted" && outcome.failure;
  handle(tune::TrialGone{number, outcome.state,
                         failed    ? control::headline(*outcome.failure)
                         : aborted ? outcome.failure->message
                                   : ""});
}

}  // namespace headway::driver
