#include "control/run_outcome.hpp"

#include "control/rig.hpp"

/// What programs learn of a failure without reading its words.
namespace headway::control {
namespace {

const RunFailure& failure_in(const RunOutcome& outcome) {
  BOOST_REQUIRE(outcome.failure.has_value());
  return *outcome.failure;
}

RankFailure the_rank_in(const RunOutcome& outcome) {
  BOOST_REQUIRE(failure_in(outcome).ranks.size() == 1U);
  return failure_in(outcome).ranks.front();
}

RunOutcome ended(Rig& run) {
  run.group_ends();
  run.journals();
  return run.outcome();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_outcome_suite)

BOOST_AUTO_TEST_CASE(an_exception_has_its_type_its_words_and_its_rank) {
  Rig run(spec_of(2));
  run.to_running();
  run.raises(1, "bad batch");
  const RunOutcome outcome = ended(run);
  BOOST_TEST((failure_in(outcome).source == FailureSource::group));
  const RankFailure failure = the_rank_in(outcome);
  BOOST_TEST((failure.kind == RankFailureKind::exception));
  BOOST_TEST(failure.rank == 1);
  BOOST_TEST(failure.attempt.value() == 1);
  BOOST_TEST(failure.pid.value() == 101);
  BOOST_TEST(failure.hostname.value() == "host-a");
  BOOST_TEST(failure.node_id.value() == "node-a");
  BOOST_TEST(failure.exception.value().type == "ValueError");
  BOOST_TEST(failure.exception.value().message == "bad batch");
  BOOST_TEST(contains(failure.exception.value().traceback, "train.py"));
  BOOST_TEST(!failure.exit);
}

BOOST_AUTO_TEST_CASE(a_death_has_its_signal_and_its_last_lines) {
  Rig run(spec_of(2));
  run.to_running();
  run.exits(0, {true, 11, ""}, "step 3\nstep 4\n");
  const RankFailure failure = the_rank_in(ended(run));
  BOOST_TEST((failure.kind == RankFailureKind::death));
  BOOST_TEST(failure.exit.value().signaled);
  BOOST_TEST(failure.exit.value().code == 11);
  BOOST_TEST(failure.last_lines.value() == "step 3\nstep 4\n");
  BOOST_TEST(failure.pid.value() == 100);
  BOOST_TEST(!failure.exception);
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_before_it_is_ready_has_failed_to_start) {
  Rig run(spec_of(2));
  run.to_starting();
  run.exits(1, {false, 3, ""}, "no module named x\n");
  const RankFailure failure = the_rank_in(ended(run));
  BOOST_TEST((failure.kind == RankFailureKind::start));
  BOOST_TEST(!failure.pid);
  BOOST_TEST(!failure.exit.value().signaled);
  BOOST_TEST(failure.exit.value().code == 3);
}

BOOST_AUTO_TEST_CASE(a_lost_node_is_named_for_each_of_its_ranks) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(NodeLost{"node-a", "the connection is closed"});
  const RunFailure failure = failure_in(ended(run));
  BOOST_REQUIRE(failure.ranks.size() == 2U);
  for (const RankFailure& rank : failure.ranks) {
    BOOST_TEST((rank.kind == RankFailureKind::lost_node));
    BOOST_TEST(rank.node_id.value() == "node-a");
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_holds_the_others_up_has_hung) {
  RunSpec spec = spec_of(2);
  spec.failure.hang_warn_s = std::nullopt;
  spec.failure.hang_fail_s = 20;
  Rig run(spec);
  run.to_running();
  run.report(0);
  run.advance(20s);
  run.examined();
  const RankFailure failure = the_rank_in(ended(run));
  BOOST_TEST((failure.kind == RankFailureKind::hang));
  BOOST_TEST(failure.rank == 1);
}

BOOST_AUTO_TEST_CASE(a_rank_that_returns_before_a_report_of_the_others_is_to_blame) {
  Rig run(spec_of(2));
  run.to_running();
  run.report(0);
  run.returns(1);
  const RankFailure failure = the_rank_in(ended(run));
  BOOST_TEST((failure.kind == RankFailureKind::unmatched_report));
  BOOST_TEST(failure.rank == 1);
}

BOOST_AUTO_TEST_CASE(a_rank_that_returns_before_a_barrier_of_the_others_is_to_blame) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(RankArrived{1, 0, 0, "barrier", 0});
  run.returns(1);
  BOOST_TEST((the_rank_in(ended(run)).kind == RankFailureKind::unmatched_collective));
}

BOOST_AUTO_TEST_CASE(a_rank_that_calls_another_collective_is_to_blame) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(RankArrived{1, 0, 0, "barrier", 0});
  run.send(RankArrived{1, 1, 0, "broadcast", 0});
  const RankFailure failure = the_rank_in(ended(run));
  BOOST_TEST((failure.kind == RankFailureKind::different_collective));
  BOOST_TEST(failure.rank == 1);
}

BOOST_AUTO_TEST_CASE(ranks_whose_node_was_taken_away_are_told_from_lost_ones) {
  RunSpec spec = spec_of(2);
  spec.failure.max_preemption_failures = 0;
  Rig run(spec);
  run.to_running();
  run.send(NodePreempted{"node-a", 1, 1000});
  run.advance(61s);
  const RunFailure failure = failure_in(ended(run));
  BOOST_REQUIRE(failure.ranks.size() == 2U);
  BOOST_TEST((failure.ranks[0].kind == RankFailureKind::preemption));
}

BOOST_AUTO_TEST_CASE(a_failure_of_no_rank_names_its_source) {
  Rig setup(spec_of(1));
  setup.to_starting();
  setup.all_ready();
  setup.send(SetupFinished{1, RankError{"RuntimeError", "no port", "", false}});
  const RunFailure of_setup = failure_in(ended(setup));
  BOOST_TEST((of_setup.source == FailureSource::setup));
  BOOST_TEST(of_setup.exception.value().type == "RuntimeError");

  Rig callback(spec_of(1));
  callback.to_running();
  callback.send(FrontFailed{"a callback raised"});
  BOOST_TEST((failure_in(ended(callback)).source == FailureSource::callback));

  Rig folder(spec_of(1));
  folder.to_running();
  folder.send(FolderLost{{ErrorKind::not_found, "the folder is gone"}});
  folder.group_ends();
  folder.journals();
  BOOST_TEST((failure_in(folder.outcome()).source == FailureSource::storage));

  Rig nodes(spec_of(1));
  nodes.start();
  nodes.storage_ready();
  nodes.send(NodesRefused{{ErrorKind::invalid_argument, "no such GPU"}});
  nodes.journals();
  BOOST_TEST((failure_in(nodes.outcome()).source == FailureSource::nodes));
}

BOOST_AUTO_TEST_CASE(the_journal_keeps_what_kind_of_failure_it_was) {
  Rig run(spec_of(1));
  run.to_running();
  run.exits(0, {true, 9, ""}, "");
  ended(run);
  const Journal journal = run.last<WriteJournal>().snapshot;
  const auto read = parse_journal(to_json_text(journal), "run.json");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((read->failure_source == FailureSource::group));
  BOOST_TEST((read->failed_ranks->at(0).kind == RankFailureKind::death));
  BOOST_TEST(read->failed_ranks->at(0).exit.value().code == 9);
}

BOOST_AUTO_TEST_CASE(a_journal_of_an_older_version_has_failed_ranks_without_their_kinds) {
  Journal journal;
  JsonObject json = to_json(journal).get_object();
  json["failed_ranks"] = JsonArray{JsonObject{{"rank", 1}, {"text", "ValueError: bad batch"}}};
  json.erase("failure_source");
  const auto read = parse_journal(json_text(json), "run.json");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->failed_ranks->at(0).text == "ValueError: bad batch");
  BOOST_TEST(!read->failed_ranks->at(0).kind);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
