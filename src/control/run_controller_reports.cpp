#include "control/failure_text.hpp"
#include "control/run_controller.hpp"

#include <algorithm>

/// Reports and checkpoints: from the ranks' offers over uploads and the commit to the answers.
namespace headway::control {

void RunController::on(const RankReported& event) {
  if (!current(event.attempt, event.rank) || state_ != RunState::running) return;
  if (!barrier_.offer(event.rank, {event.index, event.metrics, event.checkpoint})) {
    fail_attempt({ErrorKind::internal,
                  "rank " + std::to_string(event.rank) + " sent report " + std::to_string(event.index) +
                      " while report " + std::to_string(barrier_.index()) + " is open",
                  {}});
    return;
  }
  ++group_.at(event.rank).reports;
  group_.enter(event.rank, RankPhase::reporting, now_);
  if (!barrier_.complete()) {
    check_unmatched_report();
  } else if (barrier_.has_checkpoint()) {
    begin_checkpoint();
  } else {
    accept_report(std::nullopt);
  }
}

/// A rank that has returned can never come to a report in which others wait: nobody hangs for it.
void RunController::check_unmatched_report() {
  if (barrier_.empty()) return;
  std::vector<int> returned;
  for (const RankState& rank : group_.ranks()) {
    if (rank.phase == RankPhase::returned) returned.push_back(rank.plan.rank);
  }
  if (returned.empty()) return;
  fail_attempt(describe_unmatched_report(group_, barrier_.waiting_ranks(), returned, barrier_.index(), attempt_, now_));
}

void RunController::begin_checkpoint() {
  PendingCheckpoint pending;
  pending.index = barrier_.index();
  pending.plan = barrier_.plan_uploads();
  if (pending.plan.same_name_warning && !warned_same_name_) {
    warned_same_name_ = true;
    out_.push_back(Warn{*pending.plan.same_name_warning});
  }
  pending.name = pending.plan.directory_name ? *pending.plan.directory_name : book_.next_name();
  for (const auto& [rank, files] : pending.plan.files) pending.uploading.insert(rank);
  out_.push_back(BeginCheckpoint{attempt_, pending.index, pending.name});
  pending_ = std::move(pending);
}

void RunController::on(const CheckpointBegun& event) {
  if (event.attempt != attempt_ || !pending_ || pending_->index != event.index || state_ != RunState::running) return;
  if (event.error) {
    refuse_report("the checkpoint could not be begun: " + event.error->message);
    return;
  }
  for (const auto& [rank, files] : pending_->plan.files) {
    out_.push_back(UploadFiles{attempt_, rank, pending_->index, pending_->name, files});
  }
  upload_or_commit();
}

void RunController::on(const RankUploaded& event) {
  if (!current(event.attempt, event.rank) || !pending_ || pending_->index != event.index || state_ != RunState::running)
    return;
  if (pending_->uploading.erase(event.rank) == 0) return;
  if (event.error && !pending_->refusal) {
    pending_->refusal =
        "rank " + std::to_string(event.rank) + " could not store its part of the checkpoint: " + *event.error;
  }
  pending_->files.insert(pending_->files.end(), event.files.begin(), event.files.end());
  upload_or_commit();
}

void RunController::upload_or_commit() {
  if (!pending_->uploading.empty()) return;
  if (pending_->refusal) {
    refuse_report(*pending_->refusal);
    return;
  }
  pending_->committing = true;
  Manifest manifest;
  manifest.checkpoint = pending_->name;
  manifest.index = iteration_;
  manifest.attempt = attempt_;
  manifest.world_size = group_.size();
  manifest.metrics = barrier_.metrics();
  manifest.files = pending_->files;
  std::sort(manifest.files.begin(), manifest.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  out_.push_back(CommitCheckpoint{pending_->index, std::move(manifest)});
}

void RunController::on(const CheckpointCommitted& event) {
  if (!pending_ || pending_->index != event.index || !pending_->committing) return;
  if (event.error) {
    pending_->committing = false;
    if (state_ == RunState::running) {
      refuse_report("the checkpoint could not be committed: " + event.error->message);
    } else {
      group_is_over();
    }
    return;
  }
  const std::string name = pending_->name;
  pending_.reset();
  CheckpointBook::Verdict verdict = book_.commit(name, barrier_.metrics());
  accept_report(name);
  for (const std::string& old : verdict.to_delete) {
    out_.push_back(
        DeleteCheckpoint{old, "only " + std::to_string(*spec_.checkpoint.num_to_keep) + " are kept (num_to_keep)"});
  }
  if (verdict.warning) out_.push_back(Warn{*verdict.warning});
  if (state_ != RunState::running) group_is_over();
}

void RunController::accept_report(std::optional<std::string> checkpoint) {
  ReportLine line;
  line.index = barrier_.index();
  line.attempt = attempt_;
  line.iteration = ++iteration_;
  line.iterations_since_restore = ++attempt_iterations_;
  line.time_this_iter_s = to_seconds(now_ - std::max(last_report_, attempt_started_));
  line.time_total_s = to_seconds(now_ - started_);
  line.time_since_restore_s = to_seconds(now_ - attempt_started_);
  line.pid = group_.at(0).pid;
  line.hostname = group_.at(0).plan.slot.hostname;
  line.node_ip = group_.at(0).plan.slot.node_ip;
  line.checkpoint = checkpoint;
  line.metrics = barrier_.metrics();
  last_report_ = now_;
  answer_all(checkpoint, std::nullopt);
  out_.push_back(AppendResult{std::move(line)});
}

/// The report fails in every rank alike; nothing of it is recorded.
void RunController::refuse_report(std::string error) {
  out_.push_back(DiscardCheckpoint{pending_->name, error});
  pending_.reset();
  answer_all(std::nullopt, error);
}

void RunController::answer_all(const std::optional<std::string>& checkpoint, const std::optional<std::string>& error) {
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (state_ == RunState::running) group_.enter(rank, RankPhase::training, now_);
    out_.push_back(AnswerReport{attempt_, rank, barrier_.index(), checkpoint, error});
  }
  barrier_.advance();
}

}  // namespace headway::control
