#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "core/location.hpp"

#include <algorithm>
#include <set>
#include <tuple>

/// The run beyond its driver: the journal, taking a run up from what a folder holds, and folders that are lost.
namespace headway::control {

void RunController::write_journal() {
  Journal journal;
  journal.state = to_string(state_);
  if (state_ == RunState::closing) journal.state = abort_reason_ ? "aborted" : failure_ ? "errored" : "finished";
  journal.attempt = attempt_;
  journal.failures = policy_.count(FailureCause::group);
  journal.start_failures = policy_.count(FailureCause::start);
  journal.preemptions = policy_.count(FailureCause::preemption);
  journal.attempt_ends = attempt_ends_;
  journal.reports = iteration_;
  journal.names_given = book_.names_given();
  journal.time_total_s = to_seconds(earlier_ + (now_ - started_));
  journal.checkpoints = book_.kept();
  journal.to_delete = deletions_.names();
  if (failure_ && state_ == RunState::closing) {
    journal.failure = failure_->message;
    journal.failure_kind = to_string(failure_->kind);
    journal.failure_source = failure_->source;
    journal.failed_ranks = failure_->ranks;
    if (failure_->in_collective) journal.failed_in_collective = true;
    journal.preemption = failure_->preemption;
  }
  journal.abort_reason = abort_reason_;
  journal.stop_reason = stop_reason_;
  journal.owner_epoch = owner_epoch_;
  journal.spec = spec_;
  journal.spec.config.clear();  // It has its own file, and may be large.
  // Whoever may read the folder need not have what its owner reaches it with.
  journal.spec.run.storage_path = shown_location(spec_.run.storage_path);
  if (spec_.resume_from_checkpoint) journal.spec.resume_from_checkpoint = shown_location(*spec_.resume_from_checkpoint);
  ++journals_under_way_;
  out_.push_back(WriteJournal{std::move(journal)});
}

void RunController::on(const JournalWritten& event) {
  --journals_under_way_;
  if (event.error && event.error->kind == ErrorKind::superseded) {
    lose_run(*event.error);
  } else if (event.error) {
    HEADWAY_MARK(journal_failed);
    out_.push_back(Warn{"the run's journal could not be written: " + event.error->message});
  }
  if (journals_under_way_ > 0 || state_ != RunState::closing) return;
  if (last_journal_) {
    finish();
  } else {
    write_last_journal();
  }
}

void RunController::finish() {
  state_ = RunState::over;
  RunOutcome outcome;
  outcome.state = abort_reason_ ? "aborted" : failure_ ? "errored" : "finished";
  if (abort_reason_) {
    outcome.failure = failure_of(FailureSource::asked, ErrorKind::aborted, *abort_reason_);
  } else {
    outcome.failure = failure_;
  }
  outcome.checkpoints = book_.kept();
  outcome.attempts = attempt_;
  out_.push_back(Finish{std::move(outcome), lost_});
}

/// Counts on from where the run stood. Manifests win over the journal, which is older than they are; a driver may have died
/// between a commit and anything else.
void RunController::take_up(const FoundRun& found) {
  const Journal& journal = found.journal;
  HEADWAY_MARK(taken_up);
  taken_up_ = true;
  if (!journal.spec.trial_id.empty()) spec_.trial_id = journal.spec.trial_id;
  owner_epoch_ = journal.owner_epoch;
  attempt_ = std::max(journal.attempt, found.results.attempt);
  iteration_ = std::max(journal.reports, found.results.lines);
  double earlier_s = std::max(journal.time_total_s, found.results.time_total_s);
  for (const Manifest& manifest : found.checkpoints) {
    owner_epoch_ = std::max(owner_epoch_, manifest.owner_epoch);
    attempt_ = std::max(attempt_, manifest.attempt);
    iteration_ = std::max(iteration_, manifest.index + 1);
    if (manifest.report) earlier_s = std::max(earlier_s, manifest.report->time_total_s);
  }
  attempts_before_ = attempt_;
  ++owner_epoch_;
  earlier_ = from_seconds(earlier_s);
  attempt_ends_ = journal.attempt_ends;
  while (attempt_ends_.size() < static_cast<std::size_t>(attempt_)) attempt_ends_.push_back(unfinished_reason(journal));
  // What was given up before stays given up, whatever the configuration is now; but the name may have been used anew since.
  std::vector<Manifest> kept = found.checkpoints;
  for (const std::string& name : journal.to_delete) {
    const auto is_it = [&](const Manifest& each) { return each.checkpoint == name && !follows(each, journal); };
    if (std::erase_if(kept, is_it) > 0) deletions_.add(name, "it had been given up before");
  }
  for (const std::string& name : book_.take_up(kept, journal.checkpoints, journal.names_given, found.names)) {
    deletions_.add(name, "only " + std::to_string(*spec_.checkpoint.num_to_keep) + " are kept (num_to_keep)");
  }
  take_up_validations(found);
  tell_of_taking_up(found);
  make_good_lines(found);
  delete_old();
}

/// What the manifests say was asked for, and the journal does not say is done.
void RunController::take_up_validations(const FoundRun& found) {
  for (const Manifest& manifest : found.checkpoints) {
    const auto kept = std::find_if(book_.kept().begin(), book_.kept().end(), [&](const KeptCheckpoint& each) {
      return each.name == manifest.checkpoint && each.status == CheckpointStatus::PENDING_VALIDATION;
    });
    if (kept != book_.kept().end() && manifest.validation) {
      take_validation(manifest.checkpoint, manifest.index, *manifest.validation);
    }
  }
}

void RunController::tell_of_taking_up(const FoundRun& found) {
  const Journal& journal = found.journal;
  std::set<std::string> there;
  std::set<std::string> known;
  for (const Manifest& manifest : found.checkpoints) there.insert(manifest.checkpoint);
  for (const KeptCheckpoint& kept : journal.checkpoints) known.insert(kept.name);
  // After a commit that the journal does not know, older ones may have gone by num_to_keep.
  const bool may_have_retired =
      journal.spec.checkpoint.num_to_keep && !std::includes(known.begin(), known.end(), there.begin(), there.end());
  for (const KeptCheckpoint& kept : journal.checkpoints) {
    if (there.contains(kept.name) || may_have_retired) continue;
    out_.push_back(Warn{kept.name + " is in the run's journal, but its folder is gone or holds no committed "
                                    "checkpoint: it does not count any more"});
  }

  const auto newest = book_.newest();
  std::string from = "from " + newest.value_or("the beginning, as it has no checkpoint yet");
  if (!newest && spec_.resume_from_checkpoint) from = "from " + shown_location(*spec_.resume_from_checkpoint);
  const std::string folder = shown_location(join_location(spec_.run.storage_path, spec_.run.name));
  const std::string attempt = "as attempt " + std::to_string(attempt_ + 1);
  std::string text;
  if (is_complete(journal)) {
    text = "The run in " + folder + " is complete (" + std::to_string(iteration_) +
           (iteration_ == 1 ? " report" : " reports") + "). Going on " + from + ", " + attempt +
           " in the same folder; another RunConfig.name starts afresh.";
  } else {
    text = "Going on with the run in " + folder + " " + from + ", " + attempt +
           ". Why it had not finished: " + unfinished_reason(journal);
  }
  if (journal.failures + journal.start_failures + journal.preemptions > 0) text += "\nFailures are counted afresh.";
  out_.push_back(Notify{std::move(text)});
}

/// The driver may have died between a commit and its line in the results.
void RunController::make_good_lines(const FoundRun& found) {
  const auto last = std::tuple(found.results.attempt, found.results.index);
  for (const Manifest& manifest : found.checkpoints) {
    if (!manifest.report || std::tuple(manifest.report->attempt, manifest.report->index) <= last) continue;
    HEADWAY_MARK(line_made_good);
    ReportLine line = *manifest.report;
    line.checkpoint = manifest.checkpoint;
    line.metrics = manifest.metrics;
    out_.push_back(AppendResult{std::move(line)});
  }
}

/// The processes go with the driver, whatever is decided here; what can be kept is the reason.
void RunController::on(const DriverEnding& event) {
  HEADWAY_MARK(driver_ended);
  if (!abort_reason_ && state_ != RunState::closing) abort_reason_ = event.reason;
  const bool journal_there = state_ != RunState::created && state_ != RunState::preparing;
  if (attempt_ends_.size() < static_cast<std::size_t>(attempt_)) attempt_ends_.push_back(event.reason);
  state_ = RunState::closing;
  if (journal_there && !lost_ && !last_journal_) write_journal();
  finish();
}

void RunController::on(const FolderLost& event) { lose_run(event.error); }

/// Ends the run without writing to its folder again.
void RunController::lose_run(const Error& error) {
  if (std::exchange(lost_, true)) return;
  HEADWAY_MARK(folder_lost);
  stop_validations(error.message);  // What they find could not be written.
  const RunFailure failure = failure_of(FailureSource::storage, error.kind, error.message);
  if (at_work()) {
    fail_attempt(failure);
    group_is_over();  // Its processes may be gone already, and callbacks be waited for.
    return;
  }
  const bool decided = failure_ && state_ != RunState::restarting;
  if (!decided) failure_ = failure;
  if (state_ == RunState::closing) return;
  if (group_gone_ && pending_.empty()) {
    close_run();
  } else if (state_ == RunState::restarting) {
    state_ = RunState::shutting_down;  // Once the group is gone.
  } else if (!decided && !abort_reason_) {
    end_group(EndMode::kill, error.message);  // It was about to end by itself.
  }
}

}  // namespace headway::control
