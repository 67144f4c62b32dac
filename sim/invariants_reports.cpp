#include "sim/invariants.hpp"

#include <algorithm>

/// Reports and checkpoints: what was made, answered, counted, committed and deleted.
namespace headway::sim {

using namespace control;

void Invariants::on(const RankReported& event) {
  if (event.attempt != attempt_ || !group_lives_) return;
  Report& report = reports_[event.index];
  report.made_by.insert(event.rank);
  report.after_notice = notice_.begun();
  if (!event.checkpoint) return;
  report.has_checkpoint = true;
  report.asynchronous = report.asynchronous && event.checkpoint->asynchronous;
}

void Invariants::check(const AnswerReport& command) {
  const auto found = reports_.find(command.index);
  const std::string what = "report #" + std::to_string(command.index + 1);
  require(found != reports_.end(), invariant::answers, [&] { return what + " is answered before it is made"; });
  Report& report = found->second;
  require(static_cast<int>(report.made_by.size()) == world_size_, invariant::answers,
          [&] { return what + " is answered before every rank has made it"; });
  require(report.answered_to.insert(command.rank).second, invariant::answers,
          [&] { return what + " is answered twice to rank " + std::to_string(command.rank); });
  if (report.answered_to.size() == 1) {
    report.error = command.error;
    report.checkpoint = command.checkpoint;
  }
  require(report.error == command.error && report.checkpoint == command.checkpoint, invariant::answers,
          [&] { return what + " is answered differently to rank " + std::to_string(command.rank); });
  require(!command.error || !command.error->empty(), invariant::reasons, [&] { return what + " fails without words"; });
  const auto& lag = scenario_->spec.callback_lag_max;
  // The others were answered when the first was, and the callbacks may hear on meanwhile.
  require(!lag || report.answered_to.size() > 1 || command.error || unheard_ <= *lag, invariant::callbacks,
          [&] { return what + " is answered, and " + std::to_string(unheard_) + " reports are unheard"; });
  if (command.dropped) {
    require(report.has_checkpoint && scenario_->spec.checkpoint.on_upload_failure == "warn", invariant::answers,
            [&] { return what + " has lost a checkpoint"; });
    return;
  }
  if (command.error || !report.has_checkpoint || report.asynchronous) return;
  require(command.checkpoint && storage_->committed(*command.checkpoint), invariant::answers,
          [&] { return what + " returns before its checkpoint is committed"; });
  require(retention_.newest() == command.checkpoint, invariant::answers,
          [&] { return what + " is answered with a checkpoint that is not its own"; });
}

void Invariants::check(const AnnounceCheckpoint& command) {
  require(retention_.newest() == command.name && storage_->committed(command.name), invariant::answers,
          [&] { return command.name + " is announced and is not the newest committed one"; });
  const auto report = reports_.find(command.index);
  require(report != reports_.end() && !report->second.answered_to.empty(), invariant::answers,
          [&] { return command.name + " is announced before its report was answered"; });
}

void Invariants::check(const AppendResult& command) {
  const ReportLine& line = command.line;
  if (groups_ == 0) return check_made_good(line);
  const std::string what = "report #" + std::to_string(line.index + 1) + " of attempt " + std::to_string(line.attempt);
  const auto found = reports_.find(line.index);
  require(line.attempt == attempt_ && found != reports_.end() &&
              static_cast<int>(found->second.made_by.size()) == world_size_,
          invariant::counted_once, [&] { return what + " is counted, and was not made by every rank"; });
  Report& report = found->second;
  require(!std::exchange(report.counted, true), invariant::counted_once, [&] { return what + " is counted twice"; });
  if (command.rank_metrics) ++unheard_;
  const auto& stop = scenario_->spec.stop;
  if (stop && static_cast<double>(line.iteration) >= stop->begin()->second) stop_asked_ = true;
  require(!report.error, invariant::counted_once, [&] { return what + " is counted, and has failed in its ranks"; });
  require(line.index > last_counted_, invariant::counted_once, [&] { return what + " is counted out of order"; });
  require(line.iteration == ++iterations_ && line.iterations_since_restore == ++counted_in_attempt_,
          invariant::counted_once, [&] { return what + " is counted as " + std::to_string(line.iteration); });
  last_counted_ = line.index;
  const std::int64_t step = line.metrics.at("step").as_int64();
  require(line.metrics.at("rank").as_int64() == 0 && step > last_step_, invariant::counted_once,
          [&] { return what + " has metrics that are not its own"; });
  last_step_ = step;
  const bool may_be_dropped = scenario_->spec.checkpoint.on_upload_failure == "warn";
  require(line.checkpoint ? report.has_checkpoint : !report.has_checkpoint || may_be_dropped, invariant::counted_once,
          [&] { return what + " is counted without its checkpoint"; });
  require(!line.checkpoint || retention_.newest() == line.checkpoint, invariant::counted_once,
          [&] { return what + " is counted with a checkpoint that is not its own"; });
  require(line.time_this_iter_s >= 0 && line.time_total_s >= line.time_since_restore_s, invariant::counted_once,
          [&] { return what + " has times that cannot be"; });
}

/// A new driver writes the line that the last one had committed to and not written.
void Invariants::check_made_good(const ReportLine& line) const {
  const std::string what = "report #" + std::to_string(line.index + 1) + " of attempt " + std::to_string(line.attempt);
  require(!storage_->has_line(line.attempt, line.index), invariant::counted_once,
          [&] { return what + " is counted again by the next driver"; });
  require(line.checkpoint && storage_->committed(*line.checkpoint), invariant::counted_once,
          [&] { return what + " is counted by the next driver and has no checkpoint"; });
}

/// At the end of an attempt: what ranks heard is recorded is recorded. An asynchronous
/// checkpoint may have failed afterwards.
void Invariants::check_reports_counted() const {
  for (const auto& [index, report] : reports_) {
    if (report.answered_to.empty() || report.error || (report.has_checkpoint && report.asynchronous)) continue;
    require(report.counted, invariant::counted_once, [&, index = index] {
      return "report #" + std::to_string(index + 1) + " of attempt " + std::to_string(attempt_) +
             " was answered and is not counted";
    });
  }
}

void Invariants::check(const BeginCheckpoint& command) {
  require(!retention_.keeps(command.name) || scenario_->names != Scenario::Names::automatic, invariant::nothing_lost,
          [&] { return command.name + " is begun, and is a checkpoint that is kept"; });
}

void Invariants::check(const UploadFiles& command) {
  require(!gone_.contains(command.rank), invariant::living_attempts,
          [&] { return words(command) + ", which is gone"; });
}

void Invariants::check(const CommitCheckpoint& command) {
  require(!committing_, invariant::order_of_commits, "a commit begins while another is under way");
  require(command.manifest.attempt == attempt_, invariant::order_of_commits, "a manifest names another attempt");
  require(command.manifest.world_size == world_size_, invariant::world_size, "a manifest names another size");
  require(command.manifest.index == iterations_, invariant::order_of_commits,
          [&] { return command.manifest.checkpoint + " is committed before a report that came before it is counted"; });
  committing_ = command.manifest;
  committing_index_ = command.index;
}

void Invariants::on(const CheckpointCommitted& event) {
  if (!committing_ || event.index != committing_index_) return;
  hears_of_owner(event.error);
  if (event.error || folder_lost_) {
    retention_.commit_failed(committing_->checkpoint);
  } else {
    forget_validations(committing_->checkpoint);
    const bool to_be_validated = committing_->validation && scenario_->spec.validation.has_function;
    retention_.commit(committing_->checkpoint, committing_->index, committing_->metrics, to_be_validated);
    // Ranks that wait for its answer, or made it after the notice, have got no further.
    const Report& report = reports_[committing_index_];
    if (report.after_notice || report.answered_to.empty()) notice_.cut(stage_->schedule.now());
  }
  committing_.reset();
}

void Invariants::check(const DiscardCheckpoint& command) {
  require(!command.reason.empty(), invariant::reasons, "a checkpoint is discarded without a reason");
}

void Invariants::check(const DeleteCheckpoint& command) {
  require(!command.reason.empty(), invariant::reasons, "a checkpoint is deleted without a reason");
  require(!retention_.keeps(command.name), invariant::nothing_lost,
          [&] { return command.name + " is deleted, and is to be kept"; });
  require(retention_.was_given_up(command.name), invariant::nothing_lost,
          [&] { return command.name + " is deleted, and was never committed"; });
  require(!outcome_unwritten_, invariant::validations,
          [&] { return command.name + " is deleted by what a validation found, and the journal does not have that"; });
  retention_.to_delete().erase(command.name);
}

void Invariants::settled(const RunController& controller) {
  if (group_lives_) {
    for (const auto& [index, report] : reports_) {
      require(
          report.answered_to.empty() || report.answered_to.size() == report.made_by.size(), invariant::answers,
          [&, index = index] { return "report #" + std::to_string(index + 1) + " is answered to some ranks only"; });
    }
  }
  require(retention_.to_delete().empty(), invariant::retention,
          [&] { return *retention_.to_delete().begin() + " is not deleted"; });
  const std::vector<KeptCheckpoint>& book = controller.book().kept();
  const bool same = std::equal(book.begin(), book.end(), retention_.kept().begin(), retention_.kept().end(),
                               [](const KeptCheckpoint& kept, const std::string& name) { return kept.name == name; });
  require(same || !prepared_, invariant::nothing_lost, "the book does not have the checkpoints that are to be kept");
  check_validations(book);
  for (const std::string& name : retention_.kept()) {
    require(storage_->committed(name), invariant::nothing_lost, [&] { return name + " is not on disk any more"; });
  }
}

void Invariants::over() const {
  // A driver that never got to the folder removes nothing of what the last one left.
  if (!prepared_ || folder_lost_) return;
  for (const auto& [name, directory] : storage_->directories()) {
    require(!directory.begun || storage_->removal_failed(name), invariant::no_leftovers,
            [&, name = name] { return name + " was begun, not committed, and is still there"; });
    // What the user stored himself is his: a commit of it that failed is not undone.
    const bool excused = storage_->removal_failed(name) ||
                         (scenario_->source != CheckpointSource::files && retention_.was_given_up(name));
    require(!directory.committed || retention_.keeps(name) || excused, invariant::retention,
            [&, name = name] { return name + " is still there, and is not to be kept"; });
  }
  for (const auto& [name, directory] : storage_->directories()) {
    if (!retention_.keeps(name) || directory.lied) continue;
    const std::int64_t index = directory.manifest.report->index;
    const int attempt = directory.manifest.attempt;
    require(storage_->has_line(attempt, index) || storage_->line_failed(attempt, index), invariant::counted_once,
            [&, name = name] { return "the report of " + name + " has no line in the results"; });
  }
  // A driver that finds lines and no journal takes the run for a new one, and counts from the
  // start.
  if (attempt_ == 0 || began_anew_) return;
  std::pair<int, std::int64_t> last{0, -1};
  for (const ReportLine& line : storage_->results()) {
    const std::pair place(line.attempt, line.index);
    require(place > last, invariant::counted_once, "the results have a line twice or out of order");
    last = place;
  }
}

}  // namespace headway::sim
