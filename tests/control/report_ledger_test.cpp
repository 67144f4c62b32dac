#include "control/report_ledger.hpp"

#include "control/pieces.hpp"

/// Numbers and times of recorded reports.
namespace headway::control {
namespace {

ReportLine record_next(ReportLedger& ledger, int attempt, Time now) {
  PendingReport report;
  const ReportLine line = ledger.line_of(report, attempt, group_of(1), now);
  ledger.record(line, now);
  return line;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report_ledger_suite)

BOOST_AUTO_TEST_CASE(reports_are_counted_over_attempts) {
  ReportLedger ledger;
  ledger.start(Time{});
  ledger.begin_attempt(Time{1s});
  record_next(ledger, 1, Time{3s});
  ledger.begin_attempt(Time{10s});
  const ReportLine line = record_next(ledger, 2, Time{12s});
  BOOST_TEST(line.iteration == 2);
  BOOST_TEST(line.iterations_since_restore == 1);
  BOOST_TEST(line.time_this_iter_s == 2);
  BOOST_TEST(line.time_total_s == 12);
  BOOST_TEST(line.time_since_restore_s == 2);
  BOOST_TEST(ledger.count() == 2);
  BOOST_TEST(ledger.in_attempt() == 1);
  BOOST_TEST((ledger.last_at() == Time{12s}));
}

BOOST_AUTO_TEST_CASE(the_next_driver_counts_on_from_the_newest_of_journal_results_and_manifests) {
  FoundRun found;
  found.journal.reports = 3;
  found.journal.time_total_s = 30;
  found.results.lines = 4;
  Manifest manifest;
  manifest.index = 4;
  manifest.report = ReportLine{};
  manifest.report->time_total_s = 50;
  found.checkpoints.push_back(manifest);
  ReportLedger ledger;
  ledger.start(Time{});
  ledger.take_up(found);
  BOOST_TEST(ledger.count() == 5);
  BOOST_TEST(to_seconds(ledger.total(Time{1s})) == 51);
  BOOST_TEST(!ledger.last());
}

BOOST_AUTO_TEST_CASE(after_a_clone_a_run_counts_on_from_where_the_other_one_was) {
  FoundRun found;
  found.journal.reports = 9;
  found.journal.time_total_s = 90;
  found.results.lines = 9;
  Manifest manifest;
  manifest.index = 8;
  manifest.cloned = ClonedFrom{"other", "checkpoint_000001", 1, 4, 40};
  found.checkpoints.push_back(manifest);
  ReportLedger ledger;
  ledger.start(Time{});
  ledger.take_up(found);
  BOOST_TEST(ledger.count() == 9);
  BOOST_TEST(record_next(ledger, 1, Time{1s}).iteration == 5);
  BOOST_TEST(to_seconds(ledger.total(Time{1s})) == 41);
  // The next driver knows it by the journal, even if the clone is gone.
  found.journal.reports = 10;
  found.journal.iterations_ahead = ledger.iterations_ahead();
  found.checkpoints.clear();
  ReportLedger next;
  next.start(Time{});
  next.take_up(found);
  BOOST_TEST(record_next(next, 2, Time{1s}).iteration == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
