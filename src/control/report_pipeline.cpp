#include "control/report_pipeline.hpp"

#include "control/failure_text.hpp"
#include "control/marks.hpp"

#include <algorithm>

namespace headway::control {
namespace {

std::string ended_before_storing(const WorkerGroup& group, int rank) {
  return group.name_of(rank) + " ended before it had stored its part of the checkpoint";
}

}  // namespace

void ReportPipeline::begin_attempt(int world_size) {
  barrier_ = ReportBarrier(world_size);
  upload_error_.reset();
}

bool ReportPipeline::offer(int rank, ReportBarrier::Offer offer, Time now) {
  if (barrier_.empty()) open_since_ = now;
  return barrier_.offer(rank, std::move(offer));
}

std::int64_t ReportPipeline::drop() {
  const std::int64_t index = barrier_.index();
  barrier_.advance();
  return index;
}

PendingReport ReportPipeline::take(Time now, bool with_rank_metrics, CheckpointBook& book) {
  PendingReport report;
  report.index = barrier_.index();
  ReducedMetrics reduced = barrier_.metrics();
  report.metrics = std::move(reduced.metrics);
  report.unreduced = std::move(reduced.unknown);
  if (with_rank_metrics) report.rank_metrics = barrier_.rank_metrics();
  if (barrier_.has_checkpoint()) {
    open_checkpoint(report, now, book);
    report.validation = barrier_.validation();
    report.data = barrier_.data();
  }
  barrier_.advance();
  return report;
}

void ReportPipeline::open_checkpoint(PendingReport& report, Time now, CheckpointBook& book) {
  PendingCheckpoint& checkpoint = report.checkpoint.emplace();
  checkpoint.plan = barrier_.plan_uploads();
  checkpoint.asynchronous = barrier_.asynchronous();
  checkpoint.since = now;
  checkpoint.name = checkpoint.plan.directory_name ? *checkpoint.plan.directory_name : book.next_name();
  const bool taken = std::any_of(pending_.begin(), pending_.end(), [&](const PendingReport& other) {
    return other.checkpoint && other.checkpoint->name == checkpoint.name;
  });
  if (checkpoint.plan.conflict) {
    HEADWAY_MARK(offers_conflict);
    checkpoint.refusal = checkpoint.plan.conflict;
  } else if (taken) {
    HEADWAY_MARK(name_taken);
    checkpoint.refusal = "a checkpoint named " + checkpoint.name + " is being stored already";
  }
  // What the user stores himself is not marked as begun: it is never ours to sweep.
  checkpoint.begun = checkpoint.refusal || checkpoint.plan.source != CheckpointSource::files;
}

std::optional<std::string> ReportPipeline::same_name_warning(const PendingCheckpoint& checkpoint) {
  if (!checkpoint.plan.same_name_warning || std::exchange(warned_same_name_, true)) return std::nullopt;
  return checkpoint.plan.same_name_warning;
}

std::optional<std::string> ReportPipeline::unreduced_warning(const PendingReport& report) {
  if (report.unreduced.empty() || std::exchange(warned_unreduced_, true)) return std::nullopt;
  std::string names;
  for (const std::string& name : report.unreduced) names += (names.empty() ? "" : ", ") + name;
  return "reduce names metrics that rank 0 does not report as numbers: " + names;
}

bool ReportPipeline::any_checkpoint() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const PendingReport& report) { return report.checkpoint.has_value(); });
}

std::set<int> ReportPipeline::storing() const {
  std::set<int> ranks;
  for (const PendingReport& report : pending_) {
    if (report.checkpoint) ranks.insert(report.checkpoint->uploading.begin(), report.checkpoint->uploading.end());
  }
  return ranks;
}

PendingReport* ReportPipeline::with_checkpoint(std::int64_t index) {
  const auto found =
      std::find_if(pending_.begin(), pending_.end(), [&](const auto& each) { return each.index == index; });
  return found != pending_.end() && found->checkpoint ? &*found : nullptr;
}

std::vector<UploadFiles> ReportPipeline::order_uploads(PendingReport& report, int attempt,
                                                       const WorkerGroup& group) const {
  PendingCheckpoint& checkpoint = *report.checkpoint;
  std::vector<UploadFiles> orders;
  for (const auto& [rank, files] : checkpoint.plan.files) {
    if (group.at(rank).gone) {
      HEADWAY_MARK(upload_of_a_rank_that_is_gone);
      checkpoint.refusal = ended_before_storing(group, rank);
      continue;
    }
    checkpoint.uploading.insert(rank);
    const bool beside = checkpoint.plan.source == CheckpointSource::placed;
    orders.push_back({attempt, rank, report.index, checkpoint.name, files, beside});
  }
  return orders;
}

PendingReport* ReportPipeline::begun(std::int64_t index, const std::optional<Error>& error, Time now) {
  PendingReport* report = with_checkpoint(index);
  if (report == nullptr || report->checkpoint->begun) return nullptr;
  report->checkpoint->begun = true;
  report->checkpoint->since = now;
  if (error) {
    HEADWAY_MARK(begin_refused);
    report->checkpoint->refusal = "the checkpoint could not be begun: " + error->message;
    report->checkpoint->storage_failed = true;
  }
  return report;
}

bool ReportPipeline::uploaded(const RankUploaded& event) {
  PendingReport* report = with_checkpoint(event.index);
  if (report == nullptr || report->checkpoint->uploading.erase(event.rank) == 0) return false;
  PendingCheckpoint& checkpoint = *report->checkpoint;
  if (event.unseen) {
    checkpoint.unseen_by.push_back(event.rank);
  } else if (event.error && !checkpoint.refusal) {
    HEADWAY_MARK(upload_refused);
    checkpoint.refusal =
        "rank " + std::to_string(event.rank) + " could not store its part of the checkpoint: " + *event.error;
    checkpoint.storage_failed = true;
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
  return true;
}

bool ReportPipeline::rank_is_gone(int rank, const WorkerGroup& group) {
  bool waited = false;
  for (PendingReport& report : pending_) {
    if (!report.checkpoint || report.checkpoint->uploading.erase(rank) == 0) continue;
    HEADWAY_MARK(death_while_uploading);
    report.checkpoint->refusal = ended_before_storing(group, rank);
    waited = true;
  }
  return waited;
}

ReportPipeline::Step ReportPipeline::step(const WorkerGroup& group, bool group_gone, bool lost, Time now) {
  if (pending_.empty()) return Step::wait;
  PendingReport& report = pending_.front();
  if (!report.checkpoint) return lost ? Step::forget : Step::record;
  PendingCheckpoint& checkpoint = *report.checkpoint;
  if (checkpoint.committing) return Step::wait;
  const bool stored = checkpoint.begun && checkpoint.uploading.empty();
  if (!stored && group_gone) {
    HEADWAY_MARK(group_ended_before_commit);
    checkpoint.refusal = "its worker group ended before it was committed";
  }
  if (!stored && !group_gone) return Step::wait;
  if (!checkpoint.unseen_by.empty()) {
    HEADWAY_MARK(storage_not_shared);
    checkpoint.refusal = describe_unshared_storage(group, checkpoint.unseen_by, storage_path_);
    checkpoint.storage_failed = true;
  }
  if (lost && !checkpoint.refusal) checkpoint.refusal = folder_is_lost;
  if (checkpoint.refusal) return Step::refuse;
  checkpoint.committing = true;
  if (checkpoint.stored_name) checkpoint.name = *checkpoint.stored_name;
  checkpoint.since = now;
  return Step::commit;
}

PendingReport* ReportPipeline::committed(std::int64_t index) {
  PendingReport* report = with_checkpoint(index);
  if (report == nullptr || !report->checkpoint->committing) return nullptr;
  report->checkpoint->committing = false;
  return report;
}

/// Only the newest report can wait for its answer.
PendingReport* ReportPipeline::asynchronous_answer() {
  if (pending_.empty()) return nullptr;
  PendingReport& newest = pending_.back();
  if (newest.answered || !newest.checkpoint || !newest.checkpoint->asynchronous || !newest.checkpoint->begun ||
      newest.checkpoint->refusal)
    return nullptr;
  const auto under_way = std::count_if(pending_.begin(), pending_.end(), [](const PendingReport& report) {
    return report.answered && report.checkpoint.has_value();
  });
  if (static_cast<std::size_t>(under_way) >= asynchronous_max) {
    HEADWAY_MARK(too_many_asynchronous);
    return nullptr;
  }
  return &newest;
}

}  // namespace headway::control
