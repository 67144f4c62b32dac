#include "control/failure_text.hpp"
#include "control/marks.hpp"
#include "control/run_controller.hpp"

#include <algorithm>
#include <limits>

/// Reports, checkpoints and their validations: what the pipeline's steps mean for ranks, results
/// and the book.
namespace headway::control {

void RunController::on(const RankReported& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running || end_.stop_reason()) return;
  const Time now = out_.now();
  if (!reports_.offer(event.rank,
                      {event.index, event.metrics, event.checkpoint, event.validation, event.reduce, event.data},
                      now)) {
    fail_attempt(failure_of(FailureSource::controller, ErrorKind::internal,
                            "rank " + std::to_string(event.rank) + " sent " + group().report_name(event.index) +
                                " while " + group().report_name(reports_.open().index()) + " is open"));
    return;
  }
  ++group().at(event.rank).reports;
  if (group().at(event.rank).phase == RankPhase::training) {
    stragglers_.reported(event.rank, now - group().at(event.rank).since);
    loops_.reported(event.rank, now - group().at(event.rank).since);
    group().enter(event.rank, RankPhase::reporting, now);
  }
  if (reports_.open().complete()) {
    take_report();
  } else {
    check_unmatched_report();
  }
}

/// A rank that has returned can never come to a report in which others wait: nobody hangs for it.
void RunController::check_unmatched_report() {
  if (reports_.open().empty() || group().count_in(RankPhase::returned) == 0) return;
  HEADWAY_MARK(unmatched_report);
  fail_attempt(describe_unmatched_report(group(), reports_.open().waiting_ranks(), attempt_.returned(),
                                         reports_.open().index(), attempt_.number(), out_.now()));
}

void RunController::on(const RankArrived& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  if (auto failure = attempt_.arrive(event, out_.now())) {
    fail_attempt(std::move(*failure));
  } else if (attempt_.collectives().complete()) {
    out_.push(attempt_.release_collective(nodes_.preemption().info(group()), out_.now()));
  } else {
    check_unmatched_collective();
  }
}

/// A rank that has returned can never come to a collective in which others wait.
void RunController::check_unmatched_collective() {
  if (state_ != RunState::running) return;
  if (auto failure = attempt_.unmatched_collective(out_.now())) fail_attempt(std::move(*failure));
}

/// All ranks have made their report: it takes its place in the queue.
void RunController::take_report() {
  waits_.begin(out_.now(), group().size());
  size_.growth().trained();
  warn_of_straggler(stragglers_.complete());
  keep_times(false);
  if (const auto error = reports_.take_error()) {
    HEADWAY_MARK(failure_told_by_the_next_report);
    PendingReport report;
    report.index = reports_.drop();
    group().report_refused();
    answer(report, error);
    return;
  }
  PendingReport report = reports_.take(out_.now(), callbacks_.on(), book_);
  report.after_notice = end_.driver_preempted();
  if (auto warning = reports_.unreduced_warning(report)) out_.push(Warn{std::move(*warning)});
  if (report.checkpoint) {
    open_checkpoint(report);
  } else if (!reports_.empty() && !callbacks_.too_far()) {  // Else it is recorded at once.
    answer(report, std::nullopt);
    report.answered = true;
  }
  reports_.push(std::move(report));
  settle_reports();
}

void RunController::on(const RankProgressed& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  loops_.progressed(event.rank, event.progress, out_.now());
  warn_of_straggler(stragglers_.progressed(event.rank, event.progress));
  keep_times(false);
}

void RunController::on(const RankDataProgressed& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  data_.told(event.rank, event.progress, out_.now());
  keep_times(false);
}

void RunController::warn_of_straggler(const std::optional<StragglerWatch::Straggler>& straggler) {
  if (straggler) out_.push(Warn{straggler_text(*straggler, group().name_of(straggler->rank))});
}

void RunController::keep_times(bool always) {
  if (end_.folder_lost()) return;
  if (auto times = loops_.take_times(attempt_.number(), group(), out_.now(), always)) {
    out_.push(KeepStepTimes{std::move(*times)});
  }
  if (auto times = data_.take_times(out_.now(), always)) out_.push(KeepDataTimes{std::move(*times)});
}

void RunController::open_checkpoint(PendingReport& report) {
  const PendingCheckpoint& checkpoint = *report.checkpoint;
  if (auto warning = reports_.same_name_warning(checkpoint)) out_.push(Warn{std::move(*warning)});
  if (!checkpoint.begun) {
    delete_old();  // What could not be deleted may bear this name.
    out_.push(BeginCheckpoint{attempt_.number(), report.index, checkpoint.name});
  } else if (!checkpoint.refusal) {
    order_uploads(report);
  }
}

void RunController::order_uploads(PendingReport& report) {
  // What bore the name, and could not be deleted, is gone.
  deletions_.forget(report.checkpoint->name);
  for (UploadFiles& order : reports_.order_uploads(report, attempt_.number(), group())) out_.push(std::move(order));
}

void RunController::on(const CheckpointBegun& event) {
  if (event.attempt != attempt_.number() || state_ != RunState::running) return;
  PendingReport* report = reports_.begun(event.index, event.error, out_.now());
  if (report == nullptr) return;
  if (!event.error) order_uploads(*report);
  settle_reports();
}

void RunController::on(const RankUploaded& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  if (reports_.uploaded(event)) settle_reports();
}

/// Records what is ready, from the front of the queue, and then does whatever waited for that.
void RunController::settle_reports() {
  bool waiting = false;
  while (!waiting) {
    const auto step = reports_.step(group(), attempt_.gone(), end_.folder_lost(), out_.now());
    waiting = step == ReportPipeline::Step::wait || step == ReportPipeline::Step::commit;
    if (step == ReportPipeline::Step::record) record(reports_.first());
    if (step == ReportPipeline::Step::refuse) refuse(reports_.first());
    if (step == ReportPipeline::Step::commit) commit(reports_.first());
    if (!waiting) reports_.pop();
  }
  answer_asynchronous();
  answer_questions();
  finish_when_all_returned();
  group_is_over();
}

void RunController::commit(const PendingReport& report) {
  const PendingCheckpoint& checkpoint = *report.checkpoint;
  deletions_.forget(checkpoint.name);
  Manifest manifest;
  manifest.checkpoint = checkpoint.name;
  manifest.index = ledger_.count();
  manifest.attempt = attempt_.number();
  manifest.owner_epoch = owner_epoch_;
  manifest.report = line_of(report);
  manifest.report->metrics.clear();  // They are the manifest's own.
  manifest.world_size = group().size();
  manifest.metrics = report.metrics;
  manifest.metadata = spec_.metadata;
  manifest.validation = report.validation;
  manifest.data = report.data;
  manifest.files = checkpoint.files;
  std::sort(manifest.files.begin(), manifest.files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  out_.push(CommitCheckpoint{report.index, std::move(manifest), checkpoint.plan.source});
}

void RunController::on(const CheckpointCommitted& event) {
  PendingReport* report = reports_.committed(event.index);
  if (report == nullptr) return;
  if (event.error) {
    HEADWAY_MARK(commit_refused);
    report->checkpoint->refusal = "the checkpoint could not be committed: " + event.error->message;
    report->checkpoint->maybe_committed = true;
    report->checkpoint->storage_failed = true;
    if (event.error->kind == ErrorKind::superseded) lose_run(*event.error);
    refuse(*report);
  } else if (end_.folder_lost()) {
    report->checkpoint->refusal = folder_is_lost;
    refuse(*report);
  } else {
    committed(*report);
    if (reports_.pending().size() == 1 || size_.growth().due(out_.now())) size_.growth().saved();
  }
  reports_.pop();
  settle_reports();
}

void RunController::committed(const PendingReport& report) {
  const std::string& name = report.checkpoint->name;
  validations_.forget(name, out_);
  const std::int64_t index = ledger_.count();  // As its manifest has it.
  CheckpointBook::Verdict verdict = book_.commit(name, report.metrics, index, report.validation.has_value());
  if (report.answered && !attempt_.gone()) out_.push(AnnounceCheckpoint{attempt_.number(), report.index, name});
  record(report);
  give_up(verdict.to_delete);
  if (report.validation) take_validation(name, index, *report.validation);
  validations_.start(out_);
  upkeep_.copy_after_checkpoint(out_);
  if (verdict.warning) out_.push(Warn{*verdict.warning});
  upkeep_.sync_folder(out_);
  // Ranks that wait for this report have reached no more than it has.
  if (end_.driver_preempted() && (report.after_notice || !report.answered)) nodes_.preemption().saved(name);
}

/// The next line of the results, were the report accepted now.
ReportLine RunController::line_of(const PendingReport& report) const {
  ReportLine line = ledger_.line_of(report, attempt_.number(), group(), out_.now());
  line.trial_id = spec_.trial_id;
  return line;
}

void RunController::record(const PendingReport& report) {
  ReportLine line = line_of(report);
  ledger_.record(line, out_.now());
  callbacks_.recorded(out_.now());
  StopConditions::Verdict verdict = stop_conditions_.judge(line);
  if (verdict.warning) out_.push(Warn{std::move(*verdict.warning)});
  if (verdict.stop) ask_for_stop(std::move(*verdict.stop));
  answer_recorded(report);
  out_.push(AppendResult{std::move(line), report.rank_metrics});
}

/// Its ranks go on, unless the run stops with it, or they must wait for the callbacks.
void RunController::answer_recorded(const PendingReport& report) {
  if (report.answered || end_.stop_reason()) return;
  if (callbacks_.too_far()) {
    HEADWAY_MARK(ranks_wait_for_callbacks);
    callbacks_.hold(report);
  } else {
    answer(report, std::nullopt);
  }
}

void RunController::on(const ReportHeard&) {
  if (!callbacks_.heard(out_.now())) return;
  if (callbacks_.held() && !callbacks_.too_far() && !end_.stop_reason()) {
    answer(*callbacks_.held(), std::nullopt);
    callbacks_.release();
  }
  answer_asynchronous();
  if (state_ != RunState::running) return;
  finish_when_all_returned();
  group_is_over();
}

/// The report fails in every rank alike, and nothing of it is recorded. Ranks that have gone on
/// hear it at their next report; when all have returned, the attempt fails by it.
void RunController::refuse(const PendingReport& report) {
  storing_failed_ = true;
  const PendingCheckpoint& checkpoint = *report.checkpoint;
  const std::string& why = *checkpoint.refusal;
  // In a folder that is lost, what is there under this name may be another driver's.
  if (checkpoint.plan.source == CheckpointSource::files && !end_.folder_lost()) {
    // The manifest of a commit that failed may be there all the same: it goes too, since its ranks
    // hear that it does not exist.
    if (checkpoint.maybe_committed) {
      deletions_.add(checkpoint.name, why);
      delete_old();
    } else {
      out_.push(DiscardCheckpoint{checkpoint.name, why});
    }
  }
  if (checkpoint.storage_failed && spec_.checkpoint.on_upload_failure == "warn" && !end_.folder_lost()) {
    drop(report, why);
    return;
  }
  if (!report.answered && !attempt_.gone()) {
    answer(report, why);
  } else if (state_ == RunState::running) {
    HEADWAY_MARK(failure_to_be_told);
    const std::string error =
        "the checkpoint " + checkpoint.name + " of " + group().report_name(report.index) + " was not stored: " + why;
    reports_.fail_later(error);
    out_.push(Warn{error});
  }
  group().report_refused();
}

/// The report counts without its checkpoint.
void RunController::drop(PendingReport report, const std::string& why) {
  HEADWAY_MARK(checkpoint_dropped);
  const std::string name = report.checkpoint->name;
  ledger_.dropped_checkpoint();
  out_.push(Warn{"the checkpoint " + name + " of " + group().report_name(report.index) +
                 " was not stored and is dropped (on_upload_failure is \"warn\"): " + why});
  report.checkpoint.reset();
  report.dropped = true;
  record(report);
}

/// Only the newest report can wait for its answer; an asynchronous one waits while too many are
/// under way.
void RunController::answer_asynchronous() {
  if (state_ != RunState::running || callbacks_.too_far()) return;
  PendingReport* report = reports_.asynchronous_answer();
  if (report == nullptr) return;
  answer(*report, std::nullopt);
  report->answered = true;
}

void RunController::answer(const PendingReport& report, const std::optional<std::string>& error) {
  if (state_ != RunState::running || attempt_.gone()) return;  // Nobody continues from here.
  std::optional<std::string> checkpoint;
  if (report.checkpoint && !report.checkpoint->asynchronous && !error) checkpoint = report.checkpoint->name;
  for (int rank = 0; rank < group().size(); ++rank) {
    // One that has returned meanwhile (a thread of it had made the report) has still returned.
    if (group().at(rank).phase == RankPhase::reporting) group().enter(rank, RankPhase::training, out_.now());
    out_.push(AnswerReport{attempt_.number(), rank, report.index, checkpoint, error, report.dropped});
  }
}

void RunController::give_up(const std::vector<std::string>& checkpoints) {
  for (const std::string& old : checkpoints) {
    deletions_.add(old, "only " + std::to_string(*spec_.checkpoint.num_to_keep) + " are kept (num_to_keep)");
  }
  delete_old();
}

void RunController::on(const CheckpointsPinned& event) { give_up(book_.pin(event.names)); }

void RunController::delete_old() {
  if (end_.folder_lost()) return;
  for (DeleteCheckpoint& command : deletions_.begin()) out_.push(std::move(command));
}

void RunController::on(const CheckpointDeleted& event) {
  if (auto warning = deletions_.end(event, state_ == RunState::closing)) out_.push(Warn{std::move(*warning)});
  write_last_journal();
}

void RunController::take_validation(const std::string& checkpoint, std::int64_t report, const ValidationTask& task) {
  const auto refused = validations_.add(checkpoint, report, task, out_);
  if (refused) give_up(book_.settle(checkpoint, report, refused->status, {}).to_delete);
}

void RunController::on(const ValidationStarted& event) { validations_.on(event, out_); }

void RunController::on(const ValidationFinished& event) {
  if (const auto outcome = validations_.on(event, out_)) settle_validation(*outcome);
}

void RunController::on(const ValidationFailed& event) {
  if (const auto outcome = validations_.on(event, out_)) settle_validation(*outcome);
}

void RunController::on(const ValidationExited& event) {
  if (const auto outcome = validations_.on(event, out_)) settle_validation(*outcome);
  validations_.start(out_);
  if (state_ == RunState::validating && validations_.queue().idle()) close_run();
  write_last_journal();
}

/// What became of a validation is known: the checkpoint counts with what it has now.
void RunController::settle_validation(const ValidationFlow::Outcome& outcome) {
  CheckpointBook::Verdict verdict = book_.settle(outcome.checkpoint, outcome.report, outcome.status, outcome.metrics);
  // Before anything is deleted by it, so that a driver that dies in between does not validate again
  // what decided that.
  if (!end_.folder_lost()) write_journal();
  give_up(verdict.to_delete);
  if (verdict.warning) out_.push(Warn{*verdict.warning});
  answer_questions();
}

void RunController::on(const CheckpointsAsked& event) {
  if (!attempt_.is(event.attempt, event.rank) || state_ != RunState::running) return;
  questions_.ask(event, out_);
  answer_questions();
}

void RunController::answer_questions() {
  if (state_ != RunState::running || attempt_.gone()) return;
  const std::int64_t committed_before =
      reports_.empty() ? std::numeric_limits<std::int64_t>::max() : reports_.first().index;
  for (const CheckpointsAsked& asked : questions_.take_due(committed_before, validations_.queue().settled())) {
    out_.push(TellCheckpoints{attempt_.number(), asked.rank, asked.question, book_.kept()});
  }
}

}  // namespace headway::control
