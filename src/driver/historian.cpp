#include "driver/historian.hpp"

#include <algorithm>
#include <numeric>

namespace headway::driver {
namespace {

/// So many checkpoints can be on their way; of more the oldest were given up.
constexpr std::size_t begun_max = 64;
/// A line has the steps of all ranks, so large groups write them less often.
constexpr std::size_t ranks_each_time = 64;

}  // namespace

std::string Historian::lines(Time now, double unix_s, const control::Event& event, const control::Commands& commands) {
  now_ = now;
  unix_s_ = unix_s;
  std::visit([this](const auto& what) { hear(what); }, event);
  for (const control::Command& command : commands) {
    std::visit([this](const auto& what) { note(what); }, command);
  }
  return std::exchange(lines_, "");
}

void Historian::add(HistoryEvent event) { lines_ += history_line(unix_s_, std::move(event)) + "\n"; }

Historian::InReports& Historian::of_rank(int rank) {
  const auto place = static_cast<std::size_t>(std::max(0, rank));
  if (place >= in_reports_.size()) in_reports_.resize(place + 1);
  return in_reports_[place];
}

void Historian::hear(const control::RankReported& event) { of_rank(event.rank).since = now_; }

void Historian::hear(const control::RanksExamined& event) {
  StacksSeen seen{event.attempt, {}};
  for (const auto& [rank, process] : event.processes) seen.ranks.push_back({rank, process.text});
  if (!seen.ranks.empty()) add(std::move(seen));
}

void Historian::hear(const control::CheckpointCommitted& event) {
  const auto found = begun_.find(event.index);
  if (found == begun_.end()) return;
  const Begun begun = std::move(found->second);
  begun_.erase(found);
  if (event.error) return;
  add(CheckpointStored{begun.name, begun.report, begun.bytes, begun.files, to_seconds(now_ - begun.at)});
}

void Historian::hear(const control::ValidationStarted& event) {
  const auto found = validating_.find(event.number);
  if (found != validating_.end()) found->second.since = now_;
}

void Historian::hear(const control::ValidationFinished& event) { end_validation(event.number, event.metrics, {}); }

void Historian::hear(const control::ValidationFailed& event) { end_validation(event.number, {}, to_text(event.error)); }

/// Without an outcome before: the process died, or was ended.
void Historian::hear(const control::ValidationExited& event) {
  end_validation(event.number, {}, "its process " + to_text(event.status));
}

void Historian::end_validation(std::int64_t number, JsonObject metrics, std::optional<std::string> error) {
  const auto found = validating_.find(number);
  if (found == validating_.end()) return;
  const Validating validating = std::move(found->second);
  validating_.erase(found);
  CheckpointValidated validated{validating.checkpoint, std::move(metrics), std::move(error), {}};
  if (validating.since) validated.seconds = to_seconds(now_ - *validating.since);
  add(std::move(validated));
}

void Historian::note(const control::StartValidation& command) {
  validating_.insert_or_assign(command.number, Validating{command.checkpoint});
}

void Historian::note(const control::StartWorkers& command) {
  in_reports_.assign(command.plans.size(), {});
  begun_.clear();
  steps_written_.reset();
  AttemptBegan began{command.attempt, {}, command.checkpoint};
  for (const WorkerPlan& plan : command.plans) began.hosts.push_back(plan.slot.hostname);
  add(std::move(began));
}

void Historian::begin_checkpoint(std::int64_t index, const std::string& name) {
  begun_.try_emplace(index, Begun{name, now_});
  if (begun_.size() > begun_max) begun_.erase(begun_.begin());
}

void Historian::note(const control::BeginCheckpoint& command) { begin_checkpoint(command.index, command.name); }

void Historian::note(const control::UploadFiles& command) { begin_checkpoint(command.index, command.name); }

void Historian::note(const control::CommitCheckpoint& command) {
  begin_checkpoint(command.index, command.manifest.checkpoint);
  Begun& begun = begun_[command.index];
  begun.name = command.manifest.checkpoint;
  begun.report = command.manifest.index;
  begun.files = static_cast<std::int64_t>(command.manifest.files.size());
  // What the user stores is listed as it is found.
  if (command.source != CheckpointSource::files) return;
  std::uint64_t bytes = 0;
  for (const FileRecord& file : command.manifest.files) bytes += file.size;
  begun.bytes = static_cast<std::int64_t>(bytes);
}

void Historian::note(const control::DeleteCheckpoint& command) { add(CheckpointGone{command.name, command.reason}); }

void Historian::note(const control::AnswerReport& command) {
  InReports& rank = of_rank(command.rank);
  if (!rank.since) return;
  (command.checkpoint ? rank.checkpoint_s : rank.report_s) += to_seconds(now_ - *rank.since);
  rank.since.reset();
}

void Historian::note(const control::KeepStepTimes& command) {
  const std::vector<control::RankTimes>& ranks = command.times.ranks;
  const auto pause = std::chrono::seconds(30) * static_cast<int>(ranks.size() / ranks_each_time);
  if (steps_written_ && now_ - *steps_written_ < pause) return;
  steps_written_ = now_;
  StepsTaken taken{command.times.attempt, {}};
  for (const control::RankTimes& rank : ranks) {
    const std::optional<Times>& times = rank.steps ? rank.steps : rank.reports;
    if (!times) continue;
    const InReports& in_reports = of_rank(rank.rank);
    RankSteps steps{rank.rank, times->count, times->total_s, {}, in_reports.report_s, in_reports.checkpoint_s};
    if (rank.steps && rank.waiting_share) steps.waited_s = *rank.waiting_share * times->total_s;
    steps.of_reports = !rank.steps;
    steps.forward_s = rank.forward_s;
    steps.backward_s = rank.backward_s;
    taken.ranks.push_back(steps);
  }
  if (!taken.ranks.empty()) add(std::move(taken));
}

void Historian::note(const control::KeepDataTimes& command) {
  RankCounters all;
  for (const auto& [name, dataset] : command.times.datasets) {
    all.waiting_s += dataset.ranks.waiting_s;
    all.elapsed_s += dataset.ranks.elapsed_s;
  }
  add(DataWaited{all.waiting_s, all.elapsed_s});
}

void Historian::note(const control::TellFailure& command) {
  add(AttemptEnded{command.failed_attempt, command.failure.message});
}

void Historian::note(const control::Warn& command) { add(Warned{command.text}); }

void Historian::note(const control::Finish& command) { add(RunEnded{command.outcome.state}); }

}  // namespace headway::driver
