#include "control/survivors.hpp"

#include "control/pieces.hpp"

/// Who is left of a group that loses a node, and whether anything is left to do.
namespace headway::control {
namespace {

/// Ranks 0 and 1 on node-a, rank 2 on node-b; all train.
struct LosingGroup {
  LosingGroup() {
    attempt.begin({slot_on("node-a"), slot_on("node-a"), slot_on("node-b")}, Time{});
    attempt.begin_training(Time{});
    reports.begin_attempt(3);
    nodes.grant({slot_on("node-a"), slot_on("node-a"), slot_on("node-b")});
  }

  void enter(int rank, RankPhase phase) { attempt.group().enter(rank, phase, Time{}); }
  bool at_work() const { return any_at_work(attempt, reports, nodes); }

  Attempt attempt;
  ReportPipeline reports{"/storage"};
  HeldNodes nodes{0};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(survivors_suite)

BOOST_AUTO_TEST_CASE(a_node_is_needed_while_a_rank_there_has_not_returned) {
  LosingGroup run;
  BOOST_TEST(needs_node(run.attempt.group(), "node-b"));
  BOOST_TEST(!needs_node(run.attempt.group(), "node-c"));
  run.enter(2, RankPhase::returned);
  BOOST_TEST(!needs_node(run.attempt.group(), "node-b"));
}

BOOST_AUTO_TEST_CASE(ranks_that_train_elsewhere_are_left_and_at_work) {
  LosingGroup run;
  run.nodes.lose("node-b");
  BOOST_TEST(run.at_work());
  BOOST_TEST(any_left(run.attempt.group(), run.nodes));
  run.nodes.lose("node-a");
  BOOST_TEST(!run.at_work());
  BOOST_TEST(!any_left(run.attempt.group(), run.nodes));
}

BOOST_AUTO_TEST_CASE(waiting_in_a_report_for_a_lost_rank_is_no_work) {
  LosingGroup run;
  run.nodes.lose("node-b");
  for (const int rank : {0, 1}) {
    run.reports.offer(rank, {0, {}, {}}, Time{});
    run.enter(rank, RankPhase::reporting);
    BOOST_TEST(run.at_work() == (rank == 0));
  }
  BOOST_TEST(any_left(run.attempt.group(), run.nodes));
}

BOOST_AUTO_TEST_CASE(waiting_in_a_barrier_for_a_lost_rank_is_no_work) {
  LosingGroup run;
  run.nodes.lose("node-b");
  for (const int rank : {0, 1}) BOOST_TEST(!run.attempt.arrive({1, rank, 0, "barrier", 0}, Time{}).has_value());
  BOOST_TEST(!run.at_work());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
