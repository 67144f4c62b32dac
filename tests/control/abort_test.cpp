#include "control/rig.hpp"

#include <functional>

/// Ctrl-C at every point of a run: it ends as aborted, quickly, and gives its nodes back.
namespace headway::control {

namespace {

void abort(Rig& run) { run.send(AbortAsked{"interrupted (Ctrl-C)"}); }

/// How a run comes to a state with processes alive.
struct Way {
  const char* name;
  RunState state;
  std::function<void(Rig&)> go;
};

const std::vector<Way>& ways_with_processes() {
  static const std::vector<Way> ways = {
      {"starting", RunState::starting, [](Rig& run) { run.to_starting(); }},
      {"set-up under way", RunState::starting,
       [](Rig& run) {
         run.to_starting();
         run.all_ready();
       }},
      {"running", RunState::running, [](Rig& run) { run.to_running(); }},
      {"waiting in report", RunState::running,
       [](Rig& run) {
         run.to_running();
         run.report(0);
       }},
      {"uploading", RunState::running,
       [](Rig& run) {
         run.to_running();
         run.report_all({}, files({"model.pt"}));
         run.begun();
       }},
      {"restarting", RunState::restarting,
       [](Rig& run) {
         run.to_running();
         run.raises(0, "x");
       }},
      {"tear-down under way", RunState::shutting_down,
       [](Rig& run) {
         run.to_running();
         run.returns(0);
         run.returns(1);
       }},
      {"exiting", RunState::shutting_down,
       [](Rig& run) {
         run.to_running();
         run.returns(0);
         run.returns(1);
         run.teardown_done();
       }},
  };
  return ways;
}

void check_aborted(const Rig& run) {
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_REQUIRE(run.outcome().failure.has_value());
  BOOST_TEST((run.outcome().failure->kind == ErrorKind::aborted));
  BOOST_TEST(run.failure() == "interrupted (Ctrl-C)");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(abort_suite)

BOOST_AUTO_TEST_CASE(with_processes_they_get_sigterm_then_sigkill_after_half_a_second_and_the_nodes_go_back) {
  for (const Way& way : ways_with_processes()) {
    BOOST_TEST_CONTEXT(way.name) {
      Rig run(spec_of(2, 1));
      way.go(run);
      BOOST_REQUIRE((run.state() == way.state));
      abort(run);
      BOOST_TEST((run.last<EndWorkers>().mode == EndMode::terminate));
      BOOST_TEST(run.last<EndWorkers>().reason == "interrupted (Ctrl-C)");
      const std::size_t ends = run.count<EndWorkers>();
      run.advance(RunController::terminate_grace - 1ns);
      BOOST_TEST(run.count<EndWorkers>() == ends);
      run.advance(1ns);
      BOOST_TEST(run.count<EndWorkers>() == ends + 1);
      BOOST_TEST((run.last<EndWorkers>().mode == EndMode::kill));
      run.group_ends();
      BOOST_TEST(run.count<ReleaseNodes>() == 1U);
      BOOST_TEST(run.restarts() == 0U);
      run.journals();
      check_aborted(run);
      BOOST_TEST(run.count<Warn>() == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(workers_that_end_on_sigterm_are_not_killed) {
  Rig run(spec_of(2));
  run.to_running();
  abort(run);
  run.group_ends({true, 15, ""});
  run.advance(1min);
  BOOST_TEST(run.count<EndWorkers>() == 1U);
  run.journals();
  check_aborted(run);
}

BOOST_AUTO_TEST_CASE(before_there_are_processes_the_run_closes_at_once) {
  for (const int steps : {0, 1, 2}) {
    Rig run(spec_of(2));
    if (steps > 0) run.start();
    if (steps > 1) run.storage_ready();
    abort(run);
    BOOST_TEST(run.count<EndWorkers>() == 0U);
    BOOST_TEST(run.count<ReleaseNodes>() == (steps == 2 ? 1U : 0U));
    run.storage_ready();
    run.grant();
    BOOST_TEST(run.count<StartWorkers>() == 0U);
    run.journals();
    check_aborted(run);
    BOOST_TEST(run.outcome().attempts == 0);
  }
}

BOOST_AUTO_TEST_CASE(in_closing_the_run_has_come_to_its_end_and_an_abort_changes_nothing) {
  Rig run(spec_of(1));
  run.to_running();
  run.returns(0);
  run.teardown_done();
  run.group_ends({false, 0, ""});
  BOOST_TEST((run.state() == RunState::closing));
  abort(run);
  BOOST_TEST(run.of_latest<EndWorkers>().empty());
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_second_abort_changes_nothing_and_the_first_reason_stays) {
  Rig run(spec_of(2));
  run.to_running();
  abort(run);
  BOOST_TEST(run.send(AbortAsked{"again"}).empty());
  run.group_ends();
  run.journals();
  check_aborted(run);
}

BOOST_AUTO_TEST_CASE(ranks_that_raise_or_die_after_the_abort_are_no_failure) {
  Rig run(spec_of(3, 5));
  run.to_running();
  abort(run);
  run.raises(0, "KeyboardInterrupt");
  run.returns(1);
  run.exits(2, {false, 1, ""});
  run.group_ends();
  run.journals();
  check_aborted(run);
  BOOST_TEST(run.last<WriteJournal>().snapshot.failures == 0);
  BOOST_TEST(run.last<WriteJournal>().snapshot.abort_reason.value() == "interrupted (Ctrl-C)");
  BOOST_TEST(run.count<Notify>() == 0U);
}

BOOST_AUTO_TEST_CASE(an_upload_under_way_at_the_abort_is_discarded) {
  Rig run(spec_of(1));
  run.to_running();
  run.checkpoint();
  run.report(0, {}, files({"model.pt"}));
  run.begun();
  abort(run);
  run.uploaded(0);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.last<DiscardCheckpoint>().name == "checkpoint_000001");
  BOOST_TEST(run.outcome().checkpoints.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
