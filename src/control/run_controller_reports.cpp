#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>

/// Reports and checkpoints: from the ranks' offers over uploads and the commit to the answers.
namespace headway::control {
namespace {

constexpr const char* folder_lost = "the run's folder is lost";

}  // namespace

void RunController::on(const RankReported& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running || stop_reason_) return;
  if (barrier_.empty()) barrier_since_ = now_;
  if (!barrier_.offer(event.rank, {event.index, event.metrics, event.checkpoint, event.validation})) {
    fail_attempt(failure_of(FailureSource::controller, ErrorKind::internal,
                            "rank " + std::to_string(event.rank) + " sent report #" + std::to_string(event.index + 1) +
                                " while report #" + std::to_string(barrier_.index() + 1) + " is open"));
    return;
  }
  ++group_.at(event.rank).reports;
  if (group_.at(event.rank).phase == RankPhase::training) group_.enter(event.rank, RankPhase::reporting, now_);
  if (barrier_.complete()) {
    take_report();
  } else {
    check_unmatched_report();
  }
}

/// A rank that has returned can never come to a report in which others wait: nobody hangs for it.
void RunController::check_unmatched_report() {
  if (barrier_.empty() || group_.count_in(RankPhase::returned) == 0) return;
  std::vector<int> returned;
  for (const RankState& rank : group_.ranks()) {
    if (rank.phase == RankPhase::returned) returned.push_back(rank.plan.rank);
  }
  HEADWAY_MARK(unmatched_report);
  fail_attempt(describe_unmatched_report(group_, barrier_.waiting_ranks(), returned, barrier_.index(), attempt_, now_));
}

/// All ranks have made their report: it takes its place in the queue.
void RunController::take_report() {
  collective_watch_.restart(now_, group_.size());
  growth_.trained();
  PendingReport report;
  report.index = barrier_.index();
  if (upload_error_) {
    HEADWAY_MARK(failure_told_by_the_next_report);
    answer(report, std::exchange(upload_error_, std::nullopt));
    barrier_.advance();
    return;
  }
  report.metrics = barrier_.metrics();
  if (spec_.callback_lag_max) report.rank_metrics = barrier_.rank_metrics();
  if (barrier_.has_checkpoint()) {
    report.checkpoint = begin_checkpoint(report.index);
    report.validation = barrier_.validation();
  } else if (!pending_.empty() && !too_far_ahead()) {  // Else it is recorded at once.
    answer(report, std::nullopt);
    report.answered = true;
  }
  barrier_.advance();
  pending_.push_back(std::move(report));
  settle_reports();
}

RunController::PendingCheckpoint RunController::begin_checkpoint(std::int64_t index) {
  PendingCheckpoint checkpoint;
  checkpoint.plan = barrier_.plan_uploads();
  checkpoint.asynchronous = barrier_.asynchronous();
  checkpoint.since = now_;
  if (checkpoint.plan.same_name_warning && !warned_same_name_) {
    warned_same_name_ = true;
    out_.push_back(Warn{*checkpoint.plan.same_name_warning});
  }
  checkpoint.name = checkpoint.plan.directory_name ? *checkpoint.plan.directory_name : book_.next_name();
  const bool taken = std::any_of(pending_.begin(), pending_.end(), [&](const PendingReport& report) {
    return report.checkpoint && report.checkpoint->name == checkpoint.name;
  });
  // What the user stores himself is not marked as begun: it is never ours to sweep.
  const bool own_upload = checkpoint.plan.source == CheckpointSource::files;
  checkpoint.begun = taken || checkpoint.plan.conflict || !own_upload;
  if (checkpoint.plan.conflict) {
    HEADWAY_MARK(offers_conflict);
    checkpoint.refusal = checkpoint.plan.conflict;
  } else if (taken) {
    HEADWAY_MARK(name_taken);
    checkpoint.refusal = "a checkpoint named " + checkpoint.name + " is being stored already";
  } else if (own_upload) {
    delete_old();  // What could not be deleted may bear this name.
    out_.push_back(BeginCheckpoint{attempt_, index, checkpoint.name});
  } else {
    deletions_.forget(checkpoint.name);
    order_uploads(index, checkpoint);
  }
  return checkpoint;
}

RunController::PendingReport* RunController::pending(std::int64_t index) {
  const auto found =
      std::find_if(pending_.begin(), pending_.end(), [&](const auto& each) { return each.index == index; });
  return found != pending_.end() && found->checkpoint ? &*found : nullptr;
}

void RunController::on(const CheckpointBegun& event) {
  PendingReport* report = pending(event.index);
  if (event.attempt != attempt_ || report == nullptr || report->checkpoint->begun || state_ != RunState::running)
    return;
  PendingCheckpoint& checkpoint = *report->checkpoint;
  checkpoint.begun = true;
  checkpoint.since = now_;
  if (event.error) {
    HEADWAY_MARK(begin_refused);
    checkpoint.refusal = "the checkpoint could not be begun: " + event.error->message;
  } else {
    deletions_.forget(checkpoint.name);  // What bore the name, and could not be deleted, is gone.
    order_uploads(report->index, checkpoint);
  }
  settle_reports();
}

void RunController::order_uploads(std::int64_t index, PendingCheckpoint& checkpoint) {
  for (const auto& [rank, files] : checkpoint.plan.files) {
    if (group_.at(rank).gone) {
      HEADWAY_MARK(upload_of_a_rank_that_is_gone);
      checkpoint.refusal = ended_before_storing(rank);
      continue;
    }
    checkpoint.uploading.insert(rank);
    out_.push_back(UploadFiles{attempt_, rank, index, checkpoint.name, files});
  }
}

void RunController::on(const RankUploaded& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  PendingReport* report = pending(event.index);
  if (report == nullptr || report->checkpoint->uploading.erase(event.rank) == 0) return;
  PendingCheckpoint& checkpoint = *report->checkpoint;
  if (event.unseen) {
    checkpoint.unseen_by.push_back(event.rank);
  } else if (event.error && !checkpoint.refusal) {
    HEADWAY_MARK(upload_refused);
    checkpoint.refusal =
        "rank " + std::to_string(event.rank) + " could not store its part of the checkpoint: " + *event.error;
  }
  checkpoint.files.insert(checkpoint.files.end(), event.files.begin(), event.files.end());
  if (event.stored_name && !checkpoint.refusal) {
    if (checkpoint.stored_name && *checkpoint.stored_name != *event.stored_name) {
      HEADWAY_MARK(stored_under_two_names);
      checkpoint.refusal = "the ranks' functions that store it put one checkpoint into two directories, " +
                           *checkpoint.stored_name + " and " + *event.stored_name;
    }
    checkpoint.stored_name = event.stored_name;
  }
  settle_reports();
}

std::string RunController::ended_before_storing(int rank) const {
  return group_.name_of(rank) + " ended before it had stored its part of the checkpoint";
}

/// A process that is gone uploads nothing any more.
void RunController::forget_uploads_of(int rank) {
  bool changed = false;
  for (PendingReport& report : pending_) {
    if (!report.checkpoint || report.checkpoint->uploading.erase(rank) == 0) continue;
    HEADWAY_MARK(death_while_uploading);
    report.checkpoint->refusal = ended_before_storing(rank);
    changed = true;
  }
  if (changed) settle_reports();
}

/// Records what is ready, from the front of the queue.
void RunController::settle_reports() {
  while (!pending_.empty() && settle_first()) pending_.pop_front();
  answer_asynchronous();
  answer_questions();
  finish_when_all_returned();
  group_is_over();
}

/// True when the first report has come to its end.
bool RunController::settle_first() {
  PendingReport& report = pending_.front();
  if (!report.checkpoint) {
    if (!lost_) record(report);
    return true;
  }
  PendingCheckpoint& checkpoint = *report.checkpoint;
  if (checkpoint.committing) return false;
  const bool stored = checkpoint.begun && checkpoint.uploading.empty();
  if (!stored && group_gone_) {
    HEADWAY_MARK(group_ended_before_commit);
    checkpoint.refusal = "its worker group ended before it was committed";
  }
  if (!stored && !group_gone_) return false;
  if (!checkpoint.unseen_by.empty()) {
    HEADWAY_MARK(storage_not_shared);
    checkpoint.refusal = describe_unshared_storage(group_, checkpoint.unseen_by, spec_.run.storage_path);
  }
  if (lost_ && !checkpoint.refusal) checkpoint.refusal = folder_lost;
  if (checkpoint.refusal) {
    refuse(report);
    return true;
  }
  checkpoint.committing = true;
  if (checkpoint.stored_name) checkpoint.name = *checkpoint.stored_name;
  checkpoint.since = now_;
  deletions_.forget(checkpoint.name);
  commit(report);
  return false;
}

void RunController::commit(const PendingReport& report) {
  Manifest manifest;
  manifest.checkpoint = report.checkpoint->name;
  manifest.index = iteration_;
  manifest.attempt = attempt_;
  manifest.owner_epoch = owner_epoch_;
  manifest.report = line_of(report);
  manifest.report->metrics.clear();  // They are the manifest's own.
  manifest.world_size = group_.size();
  manifest.metrics = report.metrics;
  manifest.metadata = spec_.metadata;
  manifest.validation = report.validation;
  manifest.files = report.checkpoint->files;
  std::sort(manifest.files.begin(), manifest.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  out_.push_back(CommitCheckpoint{report.index, std::move(manifest), report.checkpoint->plan.source});
}

void RunController::on(const CheckpointCommitted& event) {
  PendingReport* report = pending(event.index);
  if (report == nullptr || !report->checkpoint->committing) return;
  report->checkpoint->committing = false;
  if (event.error) {
    HEADWAY_MARK(commit_refused);
    report->checkpoint->refusal = "the checkpoint could not be committed: " + event.error->message;
    report->checkpoint->maybe_committed = true;
    if (event.error->kind == ErrorKind::superseded) lose_run(*event.error);
    refuse(*report);
  } else if (lost_) {
    report->checkpoint->refusal = folder_lost;
    refuse(*report);
  } else {
    committed(*report);
    if (pending_.size() == 1 || growth_.due(now_)) growth_.saved();
  }
  pending_.pop_front();
  settle_reports();
}

void RunController::committed(const PendingReport& report) {
  const std::string& name = report.checkpoint->name;
  for (EndValidation& command : validations_.forget(name)) out_.push_back(std::move(command));
  const std::int64_t index = iteration_;  // As its manifest has it.
  CheckpointBook::Verdict verdict = book_.commit(name, report.metrics, index, report.validation.has_value());
  if (report.answered && !group_gone_) out_.push_back(AnnounceCheckpoint{attempt_, report.index, name});
  record(report);
  give_up(verdict.to_delete);
  if (report.validation) take_validation(name, index, *report.validation);
  start_validations();
  if (sync_.on_checkpoint()) sync_artifacts();
  if (verdict.warning) out_.push_back(Warn{*verdict.warning});
  sync_folder();
}

/// The next line of the results, were the report accepted now.
ReportLine RunController::line_of(const PendingReport& report) const {
  ReportLine line;
  line.index = report.index;
  line.attempt = attempt_;
  line.iteration = iteration_ + 1;
  line.iterations_since_restore = attempt_iterations_ + 1;
  line.time_this_iter_s = to_seconds(now_ - std::max(last_report_, attempt_started_));
  line.time_total_s = to_seconds(earlier_ + (now_ - started_));
  line.time_since_restore_s = to_seconds(now_ - attempt_started_);
  line.pid = group_.at(0).pid;
  line.hostname = group_.at(0).plan.slot.hostname;
  line.node_ip = group_.at(0).plan.slot.node_ip;
  line.trial_id = spec_.trial_id;
  if (report.checkpoint) line.checkpoint = report.checkpoint->name;
  line.metrics = report.metrics;
  return line;
}

void RunController::record(const PendingReport& report) {
  ReportLine line = line_of(report);
  ++iteration_;
  ++attempt_iterations_;
  last_report_ = now_;
  last_line_ = line;
  pass_on(report, line);
  out_.push_back(AppendResult{std::move(line), report.rank_metrics});
}

/// The report fails in every rank alike, and nothing of it is recorded. Ranks that have gone on hear it at their next report; when
/// all have returned, the attempt fails by it.
void RunController::refuse(const PendingReport& report) {
  const std::string& why = *report.checkpoint->refusal;
  // In a folder that is lost, what is there under this name may be another driver's.
  if (report.checkpoint->plan.source == CheckpointSource::files && !lost_) {
    // The manifest of a commit that failed may be there all the same: it goes too, since its ranks are told that it is not there.
    if (report.checkpoint->maybe_committed) {
      deletions_.add(report.checkpoint->name, why);
      delete_old();
    } else {
      out_.push_back(DiscardCheckpoint{report.checkpoint->name, why});
    }
  }
  if (!report.answered && !group_gone_) {
    answer(report, why);
  } else if (state_ == RunState::running) {
    HEADWAY_MARK(failure_to_be_told);
    upload_error_ = "the checkpoint " + report.checkpoint->name + " of report #" + std::to_string(report.index + 1) +
                    " was not stored: " + why;
    out_.push_back(Warn{*upload_error_});
  }
}

/// Only the newest report can wait for its answer; an asynchronous one waits while too many are under way.
void RunController::answer_asynchronous() {
  if (pending_.empty() || state_ != RunState::running) return;
  PendingReport& newest = pending_.back();
  if (newest.answered || !newest.checkpoint || too_far_ahead() || !newest.checkpoint->asynchronous ||
      !newest.checkpoint->begun || newest.checkpoint->refusal)
    return;
  const auto under_way = std::count_if(pending_.begin(), pending_.end(), [](const PendingReport& report) {
    return report.answered && report.checkpoint.has_value();
  });
  if (static_cast<std::size_t>(under_way) >= asynchronous_max) {
    HEADWAY_MARK(too_many_asynchronous);
    return;
  }
  answer(newest, std::nullopt);
  newest.answered = true;
}

void RunController::answer(const PendingReport& report, const std::optional<std::string>& error) {
  if (state_ != RunState::running || group_gone_) return;  // Nobody goes on from here.
  std::optional<std::string> checkpoint;
  if (report.checkpoint && !report.checkpoint->asynchronous && !error) checkpoint = report.checkpoint->name;
  for (int rank = 0; rank < group_.size(); ++rank) {
    // One that has returned meanwhile (a thread of it had made the report) has still returned.
    if (group_.at(rank).phase == RankPhase::reporting) group_.enter(rank, RankPhase::training, now_);
    out_.push_back(AnswerReport{attempt_, rank, report.index, checkpoint, error});
  }
}

}  // namespace headway::control
