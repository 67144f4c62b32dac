#include "control/rig.hpp"

/// Validations of a run: beside the training, into the checkpoint's metrics, and at the end of the
/// run.
namespace headway::control {
namespace {

RunSpec validated_spec(int workers = 1, int max_failures = 0) {
  RunSpec spec = spec_of(workers, max_failures);
  spec.validation.has_function = true;
  return spec;
}

class ValidatedRun : public Rig {
 public:
  using Rig::Rig;
  /// A report whose checkpoint is committed, to be validated; its name.
  std::string checkpoint_to_validate(const JsonObject& metrics = {}, const ValidationTask& task = {}) {
    const std::int64_t index = reports[0]++;
    send(RankReported{attempt(), 0, index, metrics, files({"model.pt"}), task});
    for (int rank = 1; rank < workers; ++rank) report(rank);
    begun();
    uploaded(0);
    committed();
    return last<CommitCheckpoint>().manifest.checkpoint;
  }
  std::int64_t number() const { return last<StartValidation>().number; }
  void validation_starts() { send(ValidationStarted{number()}); }
  void validation_exits() { send(ValidationExited{number(), {false, 0, ""}, ""}); }
  void validates(const JsonObject& metrics) {
    validation_starts();
    send(ValidationFinished{number(), metrics});
    validation_exits();
  }
  CheckpointStatus status(const std::string& name) const {
    for (const KeptCheckpoint& kept : controller.book().kept()) {
      if (kept.name == name) return kept.status.value_or(CheckpointStatus::COMMITTED);
    }
    BOOST_FAIL(name + " is not kept");
    return CheckpointStatus::COMMITTED;
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const KeptCheckpoint& each : controller.book().kept()) names.push_back(each.name);
    return names;
  }
  void training_ends() {
    for (int rank = 0; rank < workers; ++rank) returns(rank);
    teardown_done();
    group_ends({false, 0, ""});
  }
};

using Names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(validation_suite)

BOOST_AUTO_TEST_CASE(the_report_returns_before_the_validation_whose_metrics_win) {
  ValidatedRun run(validated_spec());
  run.to_running();
  const std::string name = run.checkpoint_to_validate({{"loss", 2.0}, {"epoch", 1}});
  BOOST_TEST(run.last<AnswerReport>().checkpoint.value_or("") == name);
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.validation.has_value());
  BOOST_TEST(run.last<StartValidation>().checkpoint == name);
  BOOST_TEST((run.status(name) == CheckpointStatus::PENDING_VALIDATION));
  run.validates({{"loss", 1.5}, {"accuracy", 0.9}});
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATED));
  const JsonObject merged{{"loss", 1.5}, {"epoch", 1}, {"accuracy", 0.9}};
  BOOST_TEST((run.controller.book().kept()[0].metrics == merged));
  BOOST_TEST((run.last<WriteJournal>().snapshot.checkpoints.at(0).metrics == merged));
  BOOST_TEST((run.last<EndValidation>().mode == EndMode::graceful));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_is_not_validated_yet_is_never_deleted_and_then_by_its_score) {
  RunSpec spec = validated_spec();
  spec.checkpoint.num_to_keep = 1;
  spec.checkpoint.checkpoint_score_attribute = "accuracy";
  ValidatedRun run(spec);
  run.to_running();
  const std::string first = run.checkpoint_to_validate();
  const std::string second = run.checkpoint_to_validate();
  const std::string third = run.checkpoint_to_validate();
  BOOST_TEST(run.count<DeleteCheckpoint>() == 0U);
  BOOST_TEST(run.count<Warn>() == 0U, "a score that the validation is to bring is not missed yet");
  run.validates({{"accuracy", 0.9}});
  BOOST_TEST(run.kept() == (Names{first, second, third}));
  run.validates({{"accuracy", 0.5}});
  BOOST_TEST(run.last<DeleteCheckpoint>().name == second);
  BOOST_TEST(run.kept() == (Names{first, third}));
  run.validates({{"accuracy", 0.7}});
  BOOST_TEST(run.kept() == (Names{first, third}), "the newest stays, whatever its score");
}

BOOST_AUTO_TEST_CASE(the_journal_knows_the_result_before_a_checkpoint_is_deleted_by_it) {
  RunSpec spec = validated_spec();
  spec.checkpoint.num_to_keep = 1;
  ValidatedRun run(spec);
  run.to_running();
  run.checkpoint_to_validate();
  run.checkpoint_to_validate();
  run.validation_starts();
  const Commands commands = run.send(ValidationFinished{run.number(), {}});
  const auto is = [](auto kind) {
    return [kind](const Command& each) { return each.index() == Command(kind).index(); };
  };
  const auto journal = std::find_if(commands.begin(), commands.end(), is(WriteJournal{}));
  const auto deletion = std::find_if(commands.begin(), commands.end(), is(DeleteCheckpoint{}));
  BOOST_TEST((deletion != commands.end() && journal < deletion));
}

BOOST_AUTO_TEST_CASE(a_function_that_raises_leaves_a_status_and_a_warning_and_training_goes_on) {
  ValidatedRun run(validated_spec());
  run.to_running();
  const std::string name = run.checkpoint_to_validate({{"loss", 2.0}});
  run.validation_starts();
  run.send(ValidationFailed{run.number(), {"KeyError", "'accuracy'", "  File \"train.py\", line 7\n", false}});
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATION_FAILED));
  BOOST_TEST(contains(run.last<Warn>().text, "KeyError: 'accuracy'"));
  BOOST_TEST(contains(run.last<Warn>().text, "train.py"));
  BOOST_TEST((run.state() == RunState::running));
  run.validation_exits();
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.outcome().checkpoints.at(0).metrics.at("loss").as_double() == 2.0);
}

BOOST_AUTO_TEST_CASE(one_that_takes_too_long_is_killed_and_what_it_says_afterwards_does_not_count) {
  ValidatedRun run(validated_spec());
  run.to_running();
  ValidationTask task;
  task.as_configured = false;
  task.timeout_s = 60;
  const std::string name = run.checkpoint_to_validate({}, task);
  run.advance(100s);
  BOOST_TEST(run.count<EndValidation>() == 0U, "the time counts from the function's begin");
  run.validation_starts();
  run.advance(59s);
  BOOST_TEST(run.count<EndValidation>() == 0U);
  run.advance(2s);
  BOOST_TEST((run.last<EndValidation>().mode == EndMode::kill));
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATION_TIMEOUT));
  run.send(ValidationFinished{run.number(), {{"accuracy", 1}}});
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATION_TIMEOUT));
  run.send(ValidationExited{run.number(), {true, 9, ""}, ""});
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_is_begun_again_and_at_last_given_up) {
  RunSpec spec = validated_spec();
  spec.validation.max_retries = 1;
  ValidatedRun run(spec);
  run.to_running();
  const std::string name = run.checkpoint_to_validate();
  run.validation_starts();
  run.send(ValidationExited{run.number(), {true, 9, ""}, ""});
  BOOST_TEST(run.count<StartValidation>() == 2U);
  BOOST_TEST(contains(run.last<Notify>().text, "was killed by SIGKILL"));
  run.validation_starts();
  run.send(ValidationExited{run.number(), {true, 9, ""}, "out of memory\n"});
  BOOST_TEST(run.count<StartValidation>() == 2U);
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATION_FAILED));
  BOOST_TEST(contains(run.last<Warn>().text, "out of memory"));
}

BOOST_AUTO_TEST_CASE(the_run_ends_after_its_last_validation_and_gives_its_nodes_back_before) {
  ValidatedRun run(validated_spec());
  run.to_running();
  const std::string name = run.checkpoint_to_validate();
  run.validation_starts();
  run.training_ends();
  BOOST_TEST((run.state() == RunState::validating));
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
  BOOST_TEST(contains(run.last<Notify>().text, "waiting for the validation of " + name));
  run.journals();
  run.send(ValidationFinished{run.number(), {{"accuracy", 0.8}}});
  BOOST_TEST((run.state() == RunState::validating));
  run.validation_exits();
  run.journals();
  BOOST_TEST(run.outcome().state == "finished");
  BOOST_TEST(run.outcome().checkpoints.at(0).metrics.at("accuracy").as_double() == 0.8);
  BOOST_TEST(run.count<ReleaseNodes>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_run_that_fails_still_waits_for_what_is_validated) {
  ValidatedRun run(validated_spec());
  run.to_running();
  run.checkpoint_to_validate();
  run.validation_starts();
  run.raises(0, "loss is not finite");
  run.group_ends();
  BOOST_TEST((run.state() == RunState::validating));
  run.send(ValidationFinished{run.number(), {}});
  run.validation_exits();
  run.journals();
  BOOST_TEST(run.outcome().state == "errored");
  BOOST_TEST(contains(run.failure(), "loss is not finite"));
}

BOOST_AUTO_TEST_CASE(a_restart_of_the_group_leaves_validations_alone) {
  ValidatedRun run(validated_spec(1, 1));
  run.to_running();
  const std::string name = run.checkpoint_to_validate();
  run.validation_starts();
  run.killed(0);
  run.group_ends();
  BOOST_TEST(run.attempt() == 2);
  BOOST_TEST(run.count<EndValidation>() == 0U);
  run.send(ValidationFinished{run.number(), {{"accuracy", 1}}});
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATED));
}

BOOST_AUTO_TEST_CASE(an_abort_ends_validations_too_and_the_run_waits_for_their_processes) {
  ValidatedRun run(validated_spec());
  run.to_running();
  const std::string name = run.checkpoint_to_validate();
  run.checkpoint_to_validate();
  run.validation_starts();
  run.training_ends();
  run.send(AbortAsked{"Ctrl-C"});
  BOOST_TEST((run.last<EndValidation>().mode == EndMode::kill));
  run.journals();
  BOOST_TEST(run.count<Finish>() == 0U);
  run.send(ValidationExited{run.number(), {true, 9, ""}, ""});
  run.journals();
  BOOST_TEST(run.outcome().state == "aborted");
  BOOST_TEST(run.count<StartValidation>() == 1U);
  BOOST_TEST((run.status(name) == CheckpointStatus::PENDING_VALIDATION), "another driver validates it");
}

BOOST_AUTO_TEST_CASE(a_process_that_does_not_exit_is_killed) {
  ValidatedRun run(validated_spec());
  run.to_running();
  run.checkpoint_to_validate();
  run.validation_starts();
  run.send(ValidationFinished{run.number(), {}});
  run.advance(RunController::exit_grace + 1s);
  BOOST_TEST((run.last<EndValidation>().mode == EndMode::kill));
}

BOOST_AUTO_TEST_CASE(a_new_driver_validates_what_was_asked_for_and_keeps_what_is_known) {
  FoundRun found;
  found.journal.state = "running";
  for (const char* name : {"c0", "c1", "c2"}) {
    Manifest manifest;
    manifest.checkpoint = name;
    manifest.index = static_cast<std::int64_t>(found.checkpoints.size());
    manifest.metrics = {{"loss", 2.0}};
    manifest.validation = ValidationTask{};
    found.checkpoints.push_back(manifest);
  }
  found.journal.checkpoints = {{"c0", 0, {{"loss", 1.0}}, 0, CheckpointStatus::VALIDATED},
                               {"c1", 1, {{"loss", 2.0}}, 7, CheckpointStatus::VALIDATED}};
  RunSpec spec = validated_spec();
  spec.checkpoint.num_to_keep = 1;
  ValidatedRun run(spec);
  run.start();
  run.send(StoragePrepared{{}, found, {}});
  BOOST_TEST(run.count<StartValidation>() == 0U, "the training claims its nodes first");
  run.grant();
  BOOST_TEST(run.last<StartValidation>().checkpoint == "c1",
             "the journal knows another report's checkpoint of this name");
  BOOST_TEST(run.kept() == (Names{"c1", "c2"}));
  run.validates({{"loss", 3.0}});
  BOOST_TEST(run.last<StartValidation>().checkpoint == "c2");
}

BOOST_AUTO_TEST_CASE(a_rank_is_told_of_checkpoints_once_they_are_committed_or_validated_or_its_time_is_over) {
  ValidatedRun run(validated_spec());
  run.to_running();
  const std::string name = run.checkpoint_to_validate({{"loss", 2.0}});
  run.send(CheckpointsAsked{1, 0, 0, 1, false, {}});
  BOOST_TEST(run.last<TellCheckpoints>().question == 0);
  BOOST_TEST((run.last<TellCheckpoints>().checkpoints.at(0).status == CheckpointStatus::PENDING_VALIDATION));
  run.send(CheckpointsAsked{1, 0, 1, 1, true, {}});
  run.send(CheckpointsAsked{1, 0, 2, 1, true, 3.0});
  BOOST_TEST(run.count<TellCheckpoints>() == 1U);
  run.advance(4s);
  BOOST_TEST(run.last<TellCheckpoints>().question == 2);
  run.validates({{"loss", 1.0}});
  BOOST_TEST(run.last<TellCheckpoints>().question == 1);
  BOOST_TEST(run.last<TellCheckpoints>().checkpoints.at(0).metrics.at("loss").as_double() == 1.0);
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  run.report(0, {}, offer);
  run.begun();
  run.send(CheckpointsAsked{1, 0, 3, 2, false, {}});
  BOOST_TEST(run.count<TellCheckpoints>() == 3U, "the second report's checkpoint is under way");
  run.uploaded(0);
  run.committed();
  BOOST_TEST(run.last<TellCheckpoints>().checkpoints.size() == 2U);
}

BOOST_AUTO_TEST_CASE(what_nobody_can_validate_is_said_and_does_not_hold_up_the_end) {
  ValidatedRun run(spec_of(1));
  run.to_running();
  const std::string name = run.checkpoint_to_validate();
  BOOST_TEST(contains(run.last<Warn>().text, name + " cannot be validated: the trainer has no validation function"));
  BOOST_TEST((run.status(name) == CheckpointStatus::VALIDATION_FAILED));
  run.finish_all();
  BOOST_TEST(run.outcome().state == "finished");
}

BOOST_AUTO_TEST_CASE(a_run_that_has_lost_its_folder_ends_its_validations_at_once_and_begins_no_more) {
  const Error gone{ErrorKind::not_found, "the run's folder is not there any more"};
  ValidatedRun run(validated_spec());
  run.to_running();
  run.journals();
  run.checkpoint_to_validate();
  const std::string second = run.checkpoint_to_validate();
  run.validation_starts();
  run.send(FolderLost{gone});
  BOOST_TEST((run.last<EndValidation>().mode == EndMode::kill));
  BOOST_TEST(run.last<EndValidation>().reason == gone.message);
  run.validation_exits();
  run.group_ends();
  BOOST_TEST(run.count<StartValidation>() == 1U);
  BOOST_TEST((run.status(second) == CheckpointStatus::PENDING_VALIDATION));
  BOOST_TEST(run.failure() == gone.message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
