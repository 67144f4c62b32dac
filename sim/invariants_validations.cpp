#include "sim/invariants.hpp"

#include <algorithm>

/// Validations: how many run, for which checkpoints, what becomes of their results, and what ranks
/// hear of checkpoints.
namespace headway::sim {

using namespace control;

void Invariants::check(const StartValidation& command) {
  const std::string& name = command.checkpoint;
  require(static_cast<int>(validations_.size()) < scenario_->spec.validation.max_concurrent, invariant::validations,
          [&] { return "the validation of " + name + " begins beside too many"; });
  require(storage_->committed(name) && retention_.pending(name), invariant::validations,
          [&] { return name + " is validated, and is not to be"; });
  const bool twice = std::any_of(validations_.begin(), validations_.end(), [&](const auto& entry) {
    return entry.second.checkpoint == name && !entry.second.over;
  });
  require(!twice, invariant::validations, [&] { return name + " is validated twice at a time"; });
  require(!abort_asked_ && !folder_lost_, invariant::liveness, "a validation begins after the end was asked for");
  require(validations_.try_emplace(command.number, Validation{name, {}, false}).second, invariant::validations,
          "two validations have one number");
}

void Invariants::on(const ValidationStarted& event) { validations_.at(event.number).since = stage_->schedule.now(); }

void Invariants::on(const ValidationFinished& event) {
  Validation& validation = validations_.at(event.number);
  if (!std::exchange(validation.over, true)) settle_validation(validation.checkpoint, &event.metrics);
}

void Invariants::on(const ValidationFailed& event) {
  Validation& validation = validations_.at(event.number);
  if (!std::exchange(validation.over, true)) settle_validation(validation.checkpoint, nullptr);
}

void Invariants::check(const EndValidation& command) {
  require(!command.reason.empty(), invariant::reasons, "a validation is ended without a reason");
  const auto found = validations_.find(command.number);
  require(found != validations_.end(), invariant::validations, "a validation that has ended is ended again");
  Validation& validation = found->second;
  // Then the next driver validates it.
  const bool left = notice_.begun() && command.reason == "the run ends";
  if (std::exchange(validation.over, true) || abort_asked_ || folder_lost_ || left) return;
  // What is left is the time limit.
  const auto& limit = scenario_->spec.validation.timeout_s;
  require(limit && validation.since && stage_->schedule.now() - *validation.since >= from_seconds(*limit),
          invariant::validations, [&] { return "the validation of " + validation.checkpoint + " is ended too early"; });
  settle_validation(validation.checkpoint, nullptr);
}

void Invariants::on(const ValidationExited& event) {
  const auto node = validations_.extract(event.number);
  require(!node.empty(), invariant::validations, "a validation ends twice");
  if (node.mapped().over) return;
  const std::string& name = node.mapped().checkpoint;
  if (++deaths_[name] > scenario_->spec.validation.max_retries) settle_validation(name, nullptr);
}

void Invariants::settle_validation(const std::string& checkpoint, const JsonObject* metrics) {
  retention_.settle(checkpoint, metrics);
  outcome_unwritten_ = true;
}

/// Those whose outcome a journal has. That is what was found, and all that was durable before is
/// there.
Retention::Reports Invariants::settled_by(const Journal& journal) const {
  Retention::Reports settled;
  if (!scenario_->spec.validation.has_function) return settled;
  for (const KeptCheckpoint& entry : journal.checkpoints) {
    if (!entry.status || *entry.status == CheckpointStatus::PENDING_VALIDATION) continue;
    const auto outcome = retention_.outcomes().find({entry.name, entry.report.value_or(-1)});
    require(outcome != retention_.outcomes().end() &&
                outcome->second.has_value() == (*entry.status == CheckpointStatus::VALIDATED),
            invariant::validations, [&] { return "the journal says of " + entry.name + " what was not found"; });
    settled.insert(outcome->first);
  }
  for (const auto& [key, metrics] : durable_outcomes_) {
    require(settled.contains(key) || !retention_.keeps(key.first, key.second), invariant::validations,
            [&, name = key.first] { return "what the validation of " + name + " found is lost with the driver"; });
  }
  return settled;
}

/// The checkpoint is another now, whatever its name.
void Invariants::forget_validations(const std::string& name) {
  deaths_.erase(name);
  for (auto& [number, validation] : validations_) {
    if (validation.checkpoint == name) validation.over = true;
  }
}

void Invariants::check_validations(const std::vector<KeptCheckpoint>& book) const {
  for (const KeptCheckpoint& kept : book) {
    require((kept.status == CheckpointStatus::PENDING_VALIDATION) == retention_.pending(kept.name),
            invariant::validations, [&] { return kept.name + " has another status than its validation"; });
    const bool merged = kept.metrics.contains("checked");
    require(merged == retention_.validated(kept.name) && merged == (kept.status == CheckpointStatus::VALIDATED),
            invariant::validations,
            [&] { return "what the validation of " + kept.name + " found is not in its metrics"; });
  }
}

void Invariants::on(const CheckpointsAsked& event) {
  if (event.attempt == attempt_ && group_lives_) questions_[{event.rank, event.question}] = event;
}

void Invariants::check(const TellCheckpoints& command) {
  const auto node = questions_.extract({command.rank, command.question});
  require(!node.empty(), invariant::answers, "nobody asked for checkpoints, or that is answered already");
  std::vector<std::string> told;
  for (const KeptCheckpoint& kept : command.checkpoints) told.push_back(kept.name);
  require(told == retention_.kept(), invariant::answers, "ranks hear of other checkpoints than are kept");
  const CheckpointsAsked& asked = node.mapped();
  if (asked.timeout_s) return;
  require(!asked.validated || !retention_.any_pending(), invariant::answers,
          "validated checkpoints were asked for, and one is not");
  for (const auto& [index, report] : reports_) {
    const bool told_of = report.counted || report.error || !report.has_checkpoint || report.asynchronous;
    require(index >= asked.reports || told_of, invariant::answers,
            "committed checkpoints were asked for, and one is under way");
  }
}

void Invariants::check_end_of_validations(const RunOutcome& end) const {
  require(validations_.empty(), invariant::one_finish, "the run has ended while a validation's process lives");
  // What a driver left open that was ended, or never had nodes, is for the next one.
  const bool left = end.failure && notice_.begun();
  if (end.state == "aborted" || left || folder_lost_ || groups_ == 0) return;
  require(!retention_.any_pending(), invariant::validations, "the run has ended, and a checkpoint is not validated");
}

}  // namespace headway::sim
