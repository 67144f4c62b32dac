#include "control/report_pipeline.hpp"

#include "control/pieces.hpp"

/// Reports from the ranks' offers to the step that records or refuses them, without a controller.
namespace headway::control {
namespace {

using Step = ReportPipeline::Step;

CheckpointOffer offer_of(const std::string& file, bool asynchronous = false) {
  CheckpointOffer offer;
  offer.files.push_back({file, 1, "xxh3:0000000000000001", 0});
  offer.asynchronous = asynchronous;
  return offer;
}

struct Pipeline {
  explicit Pipeline(int workers) : group(group_of(workers)) { reports.begin_attempt(workers); }

  /// Every rank makes the next report, rank 0 with the checkpoint; it becomes pending.
  void report(const std::optional<CheckpointOffer>& checkpoint = {}) {
    const std::int64_t index = reports.open().index();
    for (int rank = 0; rank < group.size(); ++rank) {
      BOOST_TEST(reports.offer(rank, {index, {}, rank == 0 ? checkpoint : std::nullopt}, now));
    }
    BOOST_TEST(reports.open().complete());
    reports.push(reports.take(now, false, book));
  }
  /// The directory is made, and rank 0's upload is ordered.
  void begin(std::int64_t index) {
    PendingReport* report = reports.begun(index, {}, now);
    BOOST_REQUIRE(report != nullptr);
    BOOST_TEST(reports.order_uploads(*report, 1, group).size() == 1U);
  }
  bool upload(std::int64_t index, std::optional<std::string> error = {}) {
    return reports.uploaded({1, 0, index, {}, std::move(error)});
  }
  Step step(bool group_gone = false, bool lost = false) { return reports.step(group, group_gone, lost, now); }

  WorkerGroup group;
  CheckpointBook book{CheckpointConfig{}};
  ReportPipeline reports{"/storage"};
  Time now{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(report_pipeline_suite)

BOOST_AUTO_TEST_CASE(a_report_is_open_until_every_rank_has_made_it) {
  Pipeline run(2);
  BOOST_TEST(run.reports.offer(1, {0, {}, {}}, Time{5s}));
  BOOST_TEST((run.reports.open_since() == Time{5s}));
  BOOST_TEST(!run.reports.open().complete());
  BOOST_TEST(!run.reports.offer(1, {1, {}, {}}, Time{6s}));
  BOOST_TEST(run.reports.empty());
}

BOOST_AUTO_TEST_CASE(metrics_alone_are_recorded_at_once) {
  Pipeline run(2);
  run.report();
  BOOST_TEST((run.step() == Step::record));
  run.reports.pop();
  BOOST_TEST((run.step() == Step::wait));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_is_committed_when_its_directory_and_its_files_are_there) {
  Pipeline run(1);
  run.report(offer_of("model"));
  BOOST_TEST((run.step() == Step::wait));
  run.begin(0);
  BOOST_TEST((run.step() == Step::wait));
  BOOST_TEST((run.reports.storing() == std::set<int>{0}));
  BOOST_TEST(run.upload(0));
  BOOST_TEST((run.step() == Step::commit));
  BOOST_TEST((run.step() == Step::wait));
  BOOST_TEST(run.reports.committed(1) == nullptr);
  BOOST_TEST(run.reports.committed(0) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_later_report_waits_for_an_earlier_checkpoint) {
  Pipeline run(1);
  run.report(offer_of("model", true));
  run.report();
  BOOST_TEST((run.step() == Step::wait));
  BOOST_TEST(run.reports.any_checkpoint());
  run.begin(0);
  run.upload(0);
  BOOST_TEST((run.step() == Step::commit));
  run.reports.committed(0);
  run.reports.pop();
  BOOST_TEST((run.step() == Step::record));
}

BOOST_AUTO_TEST_CASE(a_failed_upload_refuses_the_report) {
  Pipeline run(1);
  run.report(offer_of("model"));
  run.begin(0);
  run.upload(0, "no space");
  BOOST_TEST((run.step() == Step::refuse));
  BOOST_TEST(run.reports.first().checkpoint->refusal.value() ==
             "rank 0 could not store its part of the checkpoint: no space");
}

BOOST_AUTO_TEST_CASE(a_process_that_is_gone_uploads_nothing_more) {
  Pipeline run(1);
  run.report(offer_of("model"));
  run.begin(0);
  BOOST_TEST(run.reports.rank_is_gone(0, run.group));
  BOOST_TEST(!run.reports.rank_is_gone(0, run.group));
  BOOST_TEST(!run.upload(0));
  BOOST_TEST((run.step() == Step::refuse));
}

BOOST_AUTO_TEST_CASE(what_a_group_left_unfinished_is_refused) {
  Pipeline run(1);
  run.report(offer_of("model"));
  BOOST_TEST((run.step(true) == Step::refuse));
  BOOST_TEST(run.reports.first().checkpoint->refusal.value() == "its worker group ended before it was committed");
}

BOOST_AUTO_TEST_CASE(a_lost_folder_records_nothing) {
  Pipeline run(1);
  run.report();
  BOOST_TEST((run.step(false, true) == Step::forget));
}

BOOST_AUTO_TEST_CASE(a_name_that_is_being_stored_is_refused) {
  Pipeline run(1);
  CheckpointOffer named = offer_of("model", true);
  named.directory_name = "best";
  run.report(named);
  run.report(named);
  BOOST_TEST(!run.reports.first().checkpoint->refusal);
  BOOST_TEST(run.reports.pending().back().checkpoint->refusal.value() ==
             "a checkpoint named best is being stored already");
}

BOOST_AUTO_TEST_CASE(ranks_go_on_beside_two_asynchronous_checkpoints_and_no_more) {
  Pipeline run(1);
  for (std::int64_t index = 0; index < 3; ++index) {
    run.report(offer_of("model", true));
    BOOST_TEST(run.reports.asynchronous_answer() == nullptr);
    run.begin(index);
    PendingReport* answered = run.reports.asynchronous_answer();
    BOOST_TEST((answered != nullptr) == (index < 2));
    if (answered != nullptr) answered->answered = true;
  }
}

BOOST_AUTO_TEST_CASE(a_failure_after_the_answer_is_told_once) {
  Pipeline run(1);
  run.reports.fail_later("no space");
  run.reports.offer(0, {0, {}, {}}, Time{});
  BOOST_TEST(run.reports.take_error().value() == "no space");
  BOOST_TEST(run.reports.drop() == 0);
  BOOST_TEST(!run.reports.take_error());
  BOOST_TEST(run.reports.open().index() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
