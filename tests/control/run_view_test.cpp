#include "control/rig.hpp"

/// What somebody sees who looks at a run and changes nothing.
namespace headway::control {
namespace {

RunView view_of(const Rig& run) { return run.controller.view(run.now); }

std::vector<std::string> waits_of(const RunView& view) {
  std::vector<std::string> waits;
  for (const RankView& rank : view.ranks) waits.push_back(rank.waits_for);
  return waits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_view_suite)

BOOST_AUTO_TEST_CASE(a_run_that_has_not_begun_is_seen_as_created) {
  const Rig run(spec_of(2));
  const RunView view = view_of(run);
  BOOST_TEST((view.state == RunState::created));
  BOOST_TEST(view.name == "run");
  BOOST_TEST(view.attempt == 0);
  BOOST_TEST(!view.attempt_for_s);
  BOOST_TEST(view.ranks.empty());
  BOOST_TEST(view.checkpoints->empty());
  BOOST_TEST(view.workers_max == 2);
}

BOOST_AUTO_TEST_CASE(the_state_says_since_when_it_holds) {
  Rig run(spec_of(1));
  run.start();
  run.advance(3s);
  BOOST_TEST((view_of(run).state == RunState::preparing));
  BOOST_TEST(view_of(run).state_for_s == 3);
  BOOST_TEST(view_of(run).wait->words == "storage has not answered: the run's folder is made");
  run.storage_ready();
  run.grant();
  run.advance(2s);
  const RunView view = view_of(run);
  BOOST_TEST((view.state == RunState::starting));
  BOOST_TEST(view.state_for_s == 2);
  BOOST_TEST(*view.attempt_for_s == 2);
  BOOST_TEST(view.time_total_s == 5);
}

BOOST_AUTO_TEST_CASE(ranks_are_seen_with_their_processes_and_places) {
  Rig run(spec_of(2));
  run.to_starting();
  run.ready(1);
  run.advance(1s);
  const RunView view = view_of(run);
  BOOST_REQUIRE(view.ranks.size() == 2U);
  BOOST_TEST(!view.ranks[0].pid);
  BOOST_TEST((view.ranks[0].phase == RankPhase::starting));
  BOOST_TEST(*view.ranks[1].pid == 101);
  BOOST_TEST((view.ranks[1].phase == RankPhase::ready));
  BOOST_TEST(view.ranks[1].phase_for_s == 1);
  BOOST_TEST(view.ranks[1].node_id == "node-a");
  BOOST_TEST(view.ranks[1].hostname == "host-a");
  BOOST_TEST(view.ranks[1].local_rank == 1);
  BOOST_TEST(waits_of(view) == (std::vector<std::string>{"", "other ranks to start"}));
  BOOST_TEST(view.wait->words == "rank 0 has not become ready");
}

BOOST_AUTO_TEST_CASE(an_open_report_shows_who_is_waited_for) {
  Rig run(spec_of(3));
  run.to_running();
  run.report_all({{"loss", 0.5}});
  run.advance(1s);
  run.report(0);
  run.report(2);
  run.advance(4s);
  const RunView view = view_of(run);
  BOOST_TEST(view.reports.count == 1);
  BOOST_TEST(view.reports.in_attempt == 1);
  BOOST_TEST(view.reports.last->metrics.at("loss").as_double() == 0.5);
  BOOST_TEST(*view.reports.last_ago_s == 5);
  BOOST_TEST(*view.reports.open == 1);
  BOOST_TEST(view.reports.open_ranks == 2);
  BOOST_TEST((view.wait->kind == WaitKind::report));
  BOOST_TEST(view.wait->words == "rank 1 has not come to report #2, in which ranks 0, 2 have waited");
  BOOST_TEST(view.wait->awaited == std::vector<int>{1});
  BOOST_TEST(view.wait->waiting == (std::vector<int>{0, 2}));
  const std::string wait = "other ranks to come to report #2";
  BOOST_TEST(waits_of(view) == (std::vector<std::string>{wait, "", wait}));
  BOOST_TEST(view.ranks[0].reports == 2);
  BOOST_TEST(view.ranks[1].reports == 1);
}

BOOST_AUTO_TEST_CASE(ranks_in_a_barrier_wait_for_the_others) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(RankArrived{1, 1, 0, "barrier", 0});
  BOOST_TEST(waits_of(view_of(run)) == (std::vector<std::string>{"", "other ranks to come to barrier() #1"}));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_is_seen_on_each_step_of_its_way) {
  Rig run(spec_of(2));
  run.to_running();
  run.report_all({}, files({"model.pt"}));
  BOOST_REQUIRE(view_of(run).pending.size() == 1U);
  BOOST_TEST(*view_of(run).pending[0].checkpoint == "checkpoint_000000");
  BOOST_TEST((view_of(run).pending[0].stage == PendingStage::beginning));
  const std::string wait = "checkpoint_000000 to be stored";
  BOOST_TEST(waits_of(view_of(run)) == (std::vector<std::string>{wait, wait}));
  run.begun();
  BOOST_TEST((view_of(run).pending[0].stage == PendingStage::uploading));
  BOOST_TEST(view_of(run).pending[0].uploading == std::vector<int>{0});
  run.uploaded(0);
  BOOST_TEST((view_of(run).pending[0].stage == PendingStage::committing));
  BOOST_TEST(view_of(run).checkpoints->empty());
  run.committed();
  const RunView view = view_of(run);
  BOOST_TEST(view.pending.empty());
  BOOST_REQUIRE(view.checkpoints->size() == 1U);
  BOOST_TEST(view.checkpoints->front().name == "checkpoint_000000");
  BOOST_TEST(view.reports.last->checkpoint.value_or("") == "checkpoint_000000");
}

BOOST_AUTO_TEST_CASE(what_is_stored_beside_the_training_holds_nobody_up) {
  Rig run(spec_of(1));
  run.to_running();
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  run.report_all({}, offer);
  run.begun();
  run.report_all();
  const RunView view = view_of(run);
  BOOST_REQUIRE(view.pending.size() == 2U);
  BOOST_TEST(view.pending[0].asynchronous);
  BOOST_TEST(view.pending[0].answered);
  BOOST_TEST((view.pending[1].stage == PendingStage::queued));
  BOOST_TEST(!view.wait);
  BOOST_TEST((view.ranks[0].phase == RankPhase::training));
}

BOOST_AUTO_TEST_CASE(a_failed_attempt_is_seen_with_its_reason) {
  Rig run(spec_of(2, 1));
  run.to_running();
  run.raises(1, "bad batch");
  RunView view = view_of(run);
  BOOST_TEST((view.state == RunState::restarting));
  BOOST_REQUIRE(view.failure);
  BOOST_TEST(view.failure->ranks.at(0).rank == 1);
  BOOST_TEST(view.failures == 1);
  run.group_ends();
  view = view_of(run);
  BOOST_TEST(view.attempt == 2);
  BOOST_TEST(!view.failure);
  BOOST_REQUIRE(view.ended.size() == 1U);
  BOOST_TEST(view.ended[0].attempt == 1);
  BOOST_TEST(view.ended[0].end == "ValueError: bad batch");
}

BOOST_AUTO_TEST_CASE(only_the_last_attempts_are_listed) {
  Rig run(spec_of(1, -1));
  run.to_running();
  for (int i = 0; i < 30; ++i) {
    run.raises(0, "bad batch");
    run.group_ends();
    run.advance(30s);
    run.restart();
  }
  const RunView view = view_of(run);
  BOOST_TEST(view.attempt == 31);
  BOOST_TEST(view.ended.size() == 20U);
  BOOST_TEST(view.ended.back().attempt == 30);
}

BOOST_AUTO_TEST_CASE(validations_are_seen_until_their_processes_are_gone) {
  RunSpec spec = spec_of(1);
  spec.validation.has_function = true;
  Rig run(spec);
  run.to_running();
  run.send(RankReported{1, 0, 0, {}, files({"model"}), ValidationTask{}});
  run.begun();
  run.uploaded(0);
  run.committed();
  const std::int64_t number = run.last<StartValidation>().number;
  BOOST_REQUIRE(view_of(run).validations.size() == 1U);
  BOOST_TEST((view_of(run).validations[0].stage == ValidationStage::starting));
  run.send(ValidationStarted{number});
  run.advance(2s);
  BOOST_TEST((view_of(run).validations[0].stage == ValidationStage::running));
  BOOST_TEST(*view_of(run).validations[0].running_for_s == 2);
  BOOST_TEST((view_of(run).checkpoints->front().status == CheckpointStatus::PENDING_VALIDATION));
  run.send(ValidationFinished{number, {{"accuracy", 0.9}}});
  BOOST_TEST((view_of(run).validations[0].stage == ValidationStage::ending));
  BOOST_TEST((view_of(run).checkpoints->front().status == CheckpointStatus::VALIDATED));
  run.send(ValidationExited{number, {}, ""});
  BOOST_TEST(view_of(run).validations.empty());
}

BOOST_AUTO_TEST_CASE(nodes_that_leave_are_seen_with_their_ranks) {
  Rig run(spec_of(2));
  run.to_running();
  run.send(NodePreempted{"node-a", 60, 1000});
  const RunView view = view_of(run);
  BOOST_REQUIRE(view.preemption);
  BOOST_TEST(view.preemption->info.preempted_node_to_ranks.at("node-a") == (std::vector<int>{0, 1}));
  BOOST_TEST(!view.preemption->ranks_gone);
}

BOOST_AUTO_TEST_CASE(views_share_the_checkpoints_until_one_is_added) {
  Rig run(spec_of(1));
  run.to_running();
  run.checkpoint({{"loss", 1.0}});
  const RunView first = view_of(run);
  BOOST_TEST((view_of(run).checkpoints == first.checkpoints));
  run.checkpoint({{"loss", 0.5}});
  BOOST_TEST(first.checkpoints->size() == 1U);
  BOOST_TEST(view_of(run).checkpoints->size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_view_becomes_json_with_names_instead_of_numbers) {
  Rig run(spec_of(1, 1));
  run.to_running();
  run.checkpoint({{"loss", 1.0}});
  run.raises(0, "bad batch");
  const JsonObject json = to_json(view_of(run)).get_object();
  BOOST_TEST(json.at("state").as_string() == "restarting");
  BOOST_TEST(json.at("ranks").at(0).at("phase").as_string() == "raised");
  BOOST_TEST(json.at("reports").at("last").at("metrics").at("loss").as_double() == 1.0);
  BOOST_TEST(json.at("checkpoints").at(0).at("name").as_string() == "checkpoint_000000");
  BOOST_TEST(json.at("failure").at("kind").as_string() == "user_code");
  BOOST_TEST(json.at("failure").at("ranks").at(0).at("kind").as_string() == "exception");
  BOOST_TEST(json.at("wait").at("kind").as_string() == "exit");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
