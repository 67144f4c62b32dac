#include "control/report_ledger.hpp"

#include <algorithm>

namespace headway::control {

/// Manifests win over the journal, which is older than they are; so do the results.
void ReportLedger::take_up(const FoundRun& found) {
  count_ = std::max(found.journal.reports, found.results.lines);
  dropped_checkpoints_ = found.journal.dropped_checkpoints.value_or(0);
  double earlier_s = std::max(found.journal.time_total_s, found.results.time_total_s);
  for (const Manifest& manifest : found.checkpoints) {
    count_ = std::max(count_, manifest.index + 1);
    if (manifest.report) earlier_s = std::max(earlier_s, manifest.report->time_total_s);
  }
  taken_up_ = count_;
  ahead_ = found.journal.iterations_ahead.value_or(0);
  // A clone that no report follows: the run is where the other one was.
  const Manifest* newest = found.checkpoints.empty() ? nullptr : &found.checkpoints.back();
  if (newest != nullptr && newest->cloned && newest->index + 1 == count_) {
    ahead_ = newest->cloned->iteration - count_;
    earlier_s = newest->cloned->time_total_s;
  }
  earlier_ = from_seconds(earlier_s);
}

ReportLine ReportLedger::line_of(const PendingReport& report, int attempt, const WorkerGroup& group, Time now) const {
  ReportLine line;
  line.index = report.index;
  line.attempt = attempt;
  line.iteration = ahead_ + count_ + 1;
  line.iterations_since_restore = in_attempt_ + 1;
  line.time_this_iter_s = to_seconds(now - std::max(last_at_, attempt_started_));
  line.time_total_s = to_seconds(total(now));
  line.time_since_restore_s = to_seconds(now - attempt_started_);
  line.pid = group.at(0).pid;
  line.hostname = group.at(0).plan.slot.hostname;
  line.node_ip = group.at(0).plan.slot.node_ip;
  if (report.checkpoint) line.checkpoint = report.checkpoint->name;
  line.metrics = report.metrics;
  return line;
}

void ReportLedger::record(const ReportLine& line, Time now) {
  ++count_;
  ++in_attempt_;
  last_ = line;
  last_at_ = now;
}

}  // namespace headway::control
