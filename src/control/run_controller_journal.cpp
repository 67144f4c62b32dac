#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "core/counted.hpp"
#include "core/location.hpp"

#include <algorithm>
#include <set>
#include <tuple>

/// The run beyond its driver: the journal, and taking a run up from what a folder holds.
namespace headway::control {

void RunController::write_journal() {
  Journal journal;
  journal.state = to_string(state_);
  if (state_ == RunState::closing) journal.state = end_.word();
  journal.attempt = attempt_.number();
  journal.failures = policy_.count(FailureCause::group);
  journal.start_failures = policy_.count(FailureCause::start);
  journal.preemptions = policy_.count(FailureCause::preemption);
  journal.attempt_ends = end_.attempt_ends();
  journal.reports = ledger_.count();
  journal.names_given = book_.names_given();
  journal.time_total_s = to_seconds(ledger_.total(out_.now()));
  journal.checkpoints = book_.kept();
  journal.to_delete = deletions_.names();
  if (const auto& failure = end_.failure(); failure && state_ == RunState::closing) {
    journal.failure = failure->message;
    journal.failure_kind = to_string(failure->kind);
    journal.failure_source = failure->source;
    journal.failed_ranks = failure->ranks;
    if (failure->in_collective) journal.failed_in_collective = true;
    journal.preemption = failure->preemption;
  }
  journal.abort_reason = end_.abort_reason();
  journal.stop_reason = end_.stop_reason();
  if (ledger_.dropped_checkpoints() > 0) journal.dropped_checkpoints = ledger_.dropped_checkpoints();
  if (ledger_.iterations_ahead() != 0) journal.iterations_ahead = ledger_.iterations_ahead();
  journal.owner_epoch = owner_epoch_;
  journal.spec = spec_;
  journal.spec.config.clear();  // It has its own file, and may be large.
  // Whoever may read the folder need not have what its owner reaches it with.
  journal.spec.run.storage_path = shown_location(spec_.run.storage_path);
  if (spec_.resume_from_checkpoint) journal.spec.resume_from_checkpoint = shown_location(*spec_.resume_from_checkpoint);
  upkeep_.journal_ordered();
  out_.push(WriteJournal{std::move(journal)});
}

void RunController::on(const JournalWritten& event) {
  upkeep_.journal_written();
  if (event.error && event.error->kind == ErrorKind::superseded) {
    lose_run(*event.error);
  } else if (event.error) {
    HEADWAY_MARK(journal_failed);
    out_.push(Warn{"the run's journal could not be written: " + event.error->message});
  }
  if (upkeep_.writing_journal() || state_ != RunState::closing) return;
  if (upkeep_.last_journal_ordered()) {
    finish();
  } else {
    write_last_journal();
  }
}

/// Counts on from where the run stood. Manifests win over the journal, which is older than they
/// are; a driver may have died between a commit and anything else.
void RunController::take_up(const FoundRun& found) {
  const Journal& journal = found.journal;
  HEADWAY_MARK(taken_up);
  if (!journal.spec.trial_id.empty()) spec_.trial_id = journal.spec.trial_id;
  owner_epoch_ = journal.owner_epoch;
  int attempts = std::max(journal.attempt, found.results.attempt);
  for (const Manifest& manifest : found.checkpoints) {
    owner_epoch_ = std::max(owner_epoch_, manifest.owner_epoch);
    attempts = std::max(attempts, manifest.attempt);
  }
  ++owner_epoch_;
  attempt_.count_from(attempts);
  ledger_.take_up(found);
  end_.take_up(journal.attempt_ends, attempts, unfinished_reason(journal));
  // What was given up before stays given up, whatever the configuration is now; but the name may
  // have been used anew since.
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
    out_.push(Warn{kept.name + " is in the run's journal, but its folder is gone or holds no committed "
                               "checkpoint: it does not count any more"});
  }

  const auto newest = book_.newest();
  std::string from = "from " + newest.value_or("the beginning, as it has no checkpoint yet");
  if (!newest && spec_.resume_from_checkpoint) from = "from " + shown_location(*spec_.resume_from_checkpoint);
  const std::string folder = shown_location(join_location(spec_.run.storage_path, spec_.run.name));
  const std::string attempt = "as attempt " + std::to_string(attempt_.number() + 1);
  std::string text;
  if (is_complete(journal)) {
    const bool anew = !newest && !spec_.resume_from_checkpoint;
    text = "The run in " + folder + " is complete (" + counted(ledger_.count(), "report") + ")" +
           (anew ? " and has no checkpoint: it trains again from the beginning, " + attempt +
                       ", and adds to the same result.json"
                 : ". Resuming " + from + ", " + attempt + " in the same folder") +
           "; another RunConfig.name starts a new run.";
  } else {
    text = "Resuming the run in " + folder + " " + from + ", " + attempt +
           ". Why it had not finished: " + unfinished_reason(journal);
  }
  if (journal.failures + journal.start_failures + journal.preemptions > 0)
    text += "\nThe count of failures starts at 0 again.";
  out_.push(Notify{std::move(text)});
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
    out_.push(AppendResult{std::move(line)});
  }
}

void RunController::on(const FolderSynced& event) {
  upkeep_.folder_synced(event.error, out_);
  if (event.error && event.error->kind == ErrorKind::superseded) lose_run(*event.error);
}

void RunController::on(const ArtifactsSynced& event) {
  upkeep_.copied(event, out_);
  write_last_journal();
}

/// Once nothing is under way any more that it should tell. A folder that is lost gets none.
void RunController::write_last_journal() {
  const bool lost = end_.folder_lost();
  if (state_ != RunState::closing || upkeep_.last_journal_ordered() || deletions_.under_way() || upkeep_.copying() ||
      validations_.queue().any_process() || (lost && upkeep_.writing_journal()))
    return;
  if (attempt_.of_this_driver() > 0) out_.push(LeaveWorkingDirectory{upkeep_.all_copied()});
  if (lost) {
    finish();
    return;
  }
  upkeep_.order_last_journal();
  write_journal();
}

}  // namespace headway::control
