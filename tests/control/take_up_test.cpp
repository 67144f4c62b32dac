#include "control/rig.hpp"

/// A run that outlives its driver: what a new controller makes of what the folder holds.
namespace headway::control {

namespace {

/// The journal that a driver leaves when it is killed in attempt `attempt`.
Journal journal_of(int attempt, const std::string& state = "running") {
  Journal journal;
  journal.state = state;
  journal.attempt = attempt;
  journal.attempt_ends.assign(static_cast<std::size_t>(attempt - 1), "ValueError: bad batch");
  journal.owner_epoch = 1;
  journal.spec = spec_of(2);
  journal.spec.trial_id = "0a1b2c3d";
  return journal;
}

Manifest manifest_of(int number, int attempt, std::int64_t index) {
  Manifest manifest;
  manifest.checkpoint = "checkpoint_00000" + std::to_string(number);
  manifest.attempt = attempt;
  manifest.index = index;
  manifest.metrics = {{"score", number}};
  manifest.owner_epoch = 1;
  ReportLine line;
  line.attempt = attempt;
  line.index = index;
  line.iteration = index + 1;
  line.time_total_s = 10.0 * static_cast<double>(index + 1);
  manifest.report = line;
  return manifest;
}

/// What is found: a journal, manifests, and the lines of all their reports.
FoundRun found_run(Journal journal, std::vector<Manifest> manifests) {
  FoundRun found;
  found.journal = std::move(journal);
  for (const Manifest& manifest : manifests) {
    found.names.push_back(manifest.checkpoint);
    found.results = {manifest.index + 1, manifest.attempt, manifest.report->index, manifest.report->time_total_s};
  }
  found.checkpoints = std::move(manifests);
  return found;
}

/// A controller that has heard of it.
Rig taken_up(const FoundRun& found, RunSpec spec = spec_of(2)) {
  Rig run(std::move(spec));
  run.start();
  run.send(StoragePrepared{{}, found, {}});
  return run;
}

std::vector<std::string> names_of(const CheckpointBook& book) {
  std::vector<std::string> names;
  for (const KeptCheckpoint& kept : book.kept()) names.push_back(kept.name);
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(take_up_suite)

BOOST_AUTO_TEST_CASE(attempts_iterations_names_and_the_trial_are_counted_on) {
  Rig run = taken_up(found_run(journal_of(2), {manifest_of(0, 1, 0), manifest_of(1, 2, 1)}));
  run.grant();
  BOOST_TEST(run.last<StartWorkers>().attempt == 3);
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000001");
  BOOST_TEST(run.last<StartWorkers>().trial_id == "0a1b2c3d");
  run.restart();
  run.now += 5s;
  BOOST_TEST(run.checkpoint() == "checkpoint_000002");
  const ReportLine line = run.last<AppendResult>().line;
  BOOST_TEST(line.attempt == 3);
  BOOST_TEST(line.index == 0);
  BOOST_TEST(line.iteration == 3);
  BOOST_TEST(line.iterations_since_restore == 1);
  BOOST_TEST(line.time_total_s == 25.0, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(line.trial_id == "0a1b2c3d");
  BOOST_TEST(run.last<CommitCheckpoint>().manifest.owner_epoch == 2);
  run.finish_all();
  const Journal last = run.last<WriteJournal>().snapshot;
  BOOST_TEST(last.state == "finished");
  BOOST_TEST(last.owner_epoch == 2);
  const std::vector<std::string> ends{"ValueError: bad batch", "the driver ended before the run did",
                                      "every rank has finished"};
  BOOST_TEST(last.attempt_ends == ends, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_journal_claims_the_run_before_what_was_begun_is_swept_and_workers_start) {
  Rig run = taken_up(found_run(journal_of(1), {}));
  run.grant();
  BOOST_TEST(run.count<SweepStorage>() == 1U);
  BOOST_TEST(run.place<WriteJournal>() < run.place<SweepStorage>());
  BOOST_TEST(run.place<SweepStorage>() < run.place<StartWorkers>());
  BOOST_TEST(run.all<WriteJournal>().front().snapshot.owner_epoch == 2);
}

BOOST_AUTO_TEST_CASE(a_new_run_is_its_first_owner_and_sweeps_what_died_before_it_had_a_journal) {
  Rig run(spec_of(1));
  run.to_starting();
  BOOST_TEST(run.count<SweepStorage>() == 1U);
  BOOST_TEST(run.place<SweepStorage>() < run.place<StartWorkers>());
  BOOST_TEST(run.last<WriteJournal>().snapshot.owner_epoch == 1);
  BOOST_TEST(run.count<Notify>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_whose_commit_the_journal_does_not_know_counts) {
  Journal journal = journal_of(1);
  journal.checkpoints = {{"checkpoint_000000", 0, {}}};
  Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0), manifest_of(1, 1, 1)}));
  run.grant();
  BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000001");
  BOOST_TEST(run.controller.book().kept().size() == 2U);
  BOOST_TEST(run.count<Warn>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_the_journal_lists_and_that_is_gone_is_dropped_with_a_warning) {
  Journal journal = journal_of(1);
  journal.checkpoints = {{"checkpoint_000000", 0, {}}, {"checkpoint_000001", 1, {}}};
  Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0)}));
  BOOST_TEST(contains(run.last<Warn>().text, "checkpoint_000001 is in the run's journal, but its folder is gone"));
  BOOST_TEST(run.controller.book().newest().value() == "checkpoint_000000");
}

BOOST_AUTO_TEST_CASE(what_num_to_keep_may_have_deleted_since_the_journal_is_no_cause_for_a_warning) {
  Journal journal = journal_of(1);
  journal.spec.checkpoint.num_to_keep = 1;
  journal.checkpoints = {{"checkpoint_000000", 0, {}}};
  Rig run = taken_up(found_run(journal, {manifest_of(3, 1, 3)}));
  BOOST_TEST(run.count<Warn>() == 0U);
  run.grant();
  run.restart();
  BOOST_TEST(run.checkpoint() == "checkpoint_000004");
}

BOOST_AUTO_TEST_CASE(a_driver_that_died_before_it_deleted_what_is_not_kept_leaves_that_to_the_next) {
  RunSpec spec = spec_of(2);
  spec.checkpoint.num_to_keep = 2;
  Rig run =
      taken_up(found_run(journal_of(1), {manifest_of(0, 1, 0), manifest_of(1, 1, 1), manifest_of(2, 1, 2)}), spec);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000000");
  const std::vector<std::string> kept{"checkpoint_000001", "checkpoint_000002"};
  BOOST_TEST(names_of(run.controller.book()) == kept, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_given_up_and_could_not_be_deleted_stays_given_up_whatever_is_to_be_kept_now) {
  Journal journal = journal_of(2);
  journal.to_delete = {"checkpoint_000000"};
  Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0), manifest_of(1, 1, 1), manifest_of(2, 2, 2)}));
  BOOST_TEST(run.count<DeleteCheckpoint>() == 1U);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000000");
  const std::vector<std::string> kept{"checkpoint_000001", "checkpoint_000002"};
  BOOST_TEST(names_of(run.controller.book()) == kept, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_name_that_was_given_up_and_then_used_anew_is_not_deleted) {
  Journal journal = journal_of(2, "starting");
  journal.to_delete = {"checkpoint_000000", "checkpoint_000001"};
  Rig run = taken_up(found_run(journal, {manifest_of(1, 1, 1), manifest_of(0, 2, 2), manifest_of(2, 2, 3)}));
  BOOST_TEST(run.count<DeleteCheckpoint>() == 1U);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000001");
  const std::vector<std::string> kept{"checkpoint_000000", "checkpoint_000002"};
  BOOST_TEST(names_of(run.controller.book()) == kept, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_a_journal_of_a_validation_gives_up_in_the_middle_of_an_attempt_stays_given_up) {
  Journal journal = journal_of(2);
  journal.reports = 3;
  journal.to_delete = {"checkpoint_000001", "checkpoint_000003"};
  // The second one bears a name that was given up before, and its report is not counted in the
  // journal.
  Rig run = taken_up(found_run(journal, {manifest_of(1, 2, 1), manifest_of(2, 2, 2), manifest_of(3, 2, 3)}));
  BOOST_TEST(run.count<DeleteCheckpoint>() == 1U);
  BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000001");
  const std::vector<std::string> kept{"checkpoint_000002", "checkpoint_000003"};
  BOOST_TEST(names_of(run.controller.book()) == kept, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_newest_that_a_run_which_has_ended_gave_up_is_not_gone_on_from) {
  // Its commit had failed, so its ranks heard that it is not there; its manifest was, and could
  // not be deleted.
  for (const char* const state : {"finished", "errored", "aborted", "scheduling"}) {
    Journal journal = journal_of(2, state);
    journal.to_delete = {"checkpoint_000001"};
    Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0), manifest_of(1, 2, 1)}));
    run.grant();
    BOOST_TEST(run.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
    BOOST_TEST(run.last<DeleteCheckpoint>().name == "checkpoint_000001");
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_taken_up_brings_its_artifacts_to_storage_every_period_too) {
  RunSpec spec = spec_of(2);
  spec.sync.sync_artifacts = true;
  Rig run = taken_up(found_run(journal_of(3), {}), spec);
  run.grant();
  run.restart();
  run.advance(from_seconds(spec.sync.sync_period));
  BOOST_TEST(run.count<SyncArtifacts>() == 1U);
}

BOOST_AUTO_TEST_CASE(a_name_that_lies_in_the_folder_is_never_given_again) {
  FoundRun found = found_run(journal_of(1), {manifest_of(2, 1, 2)});
  found.names = {"checkpoint_000002", "checkpoint_000007", "checkpoint_best", "checkpoint_99999999999999999999"};
  found.journal.names_given = 5;
  Rig run = taken_up(found);
  run.grant();
  run.restart();
  BOOST_TEST(run.checkpoint() == "checkpoint_000008");
}

BOOST_AUTO_TEST_CASE(a_driver_that_died_between_a_commit_and_its_line_has_the_line_made_good) {
  FoundRun found = found_run(journal_of(1), {manifest_of(0, 1, 0), manifest_of(1, 1, 1)});
  found.results = {1, 1, 0, 10.0};
  Rig run = taken_up(found);
  BOOST_REQUIRE(run.count<AppendResult>() == 1U);
  const ReportLine line = run.last<AppendResult>().line;
  BOOST_TEST(line.iteration == 2);
  BOOST_TEST(line.attempt == 1);
  BOOST_TEST(line.index == 1);
  BOOST_TEST(line.checkpoint.value() == "checkpoint_000001");
  BOOST_TEST(line.metrics.at("score").to_number<int>() == 1);
  run.grant();
  run.restart();
  run.report_all();
  BOOST_TEST(run.last<AppendResult>().line.iteration == 3);
}

BOOST_AUTO_TEST_CASE(lines_that_no_journal_and_no_manifest_knows_of_are_counted) {
  FoundRun found = found_run(journal_of(1), {});
  found.results = {40, 1, 39, 12.5};
  Rig run = taken_up(found);
  run.grant();
  run.restart();
  run.report_all();
  BOOST_TEST(run.last<AppendResult>().line.iteration == 41);
  BOOST_TEST(run.last<AppendResult>().line.attempt == 2);
  BOOST_TEST(run.last<AppendResult>().line.time_total_s == 12.5);
}

BOOST_AUTO_TEST_CASE(an_attempt_that_only_the_results_know_is_not_repeated) {
  FoundRun found = found_run(journal_of(1), {});
  found.results = {4, 3, 0, 0.0};
  Rig run = taken_up(found);
  run.grant();
  BOOST_TEST(run.last<StartWorkers>().attempt == 4);
}

BOOST_AUTO_TEST_CASE(the_users_checkpoint_to_resume_from_is_for_a_run_without_one_of_its_own) {
  RunSpec spec = spec_of(2);
  spec.resume_from_checkpoint = "/elsewhere/checkpoint_000009";
  Rig with = taken_up(found_run(journal_of(1), {manifest_of(0, 1, 0)}), spec);
  with.grant();
  BOOST_TEST(with.last<StartWorkers>().checkpoint.value() == "checkpoint_000000");
  Rig without = taken_up(found_run(journal_of(1), {}), spec);
  without.grant();
  BOOST_TEST(without.last<StartWorkers>().checkpoint.value() == "/elsewhere/checkpoint_000009");
  BOOST_TEST(contains(without.last<Notify>().text, "from /elsewhere/checkpoint_000009"));
}

BOOST_AUTO_TEST_CASE(a_failed_run_goes_on_with_a_fresh_budget_and_says_so_and_why_it_had_failed) {
  Journal journal = journal_of(2, "errored");
  journal.failures = 2;
  journal.attempt_ends = {"ValueError: bad batch", "ValueError: bad batch"};
  journal.failure = "ValueError: bad batch\nrank 0 ...";
  Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0)}), spec_of(2, 1));
  const std::string told = run.last<Notify>().text;
  BOOST_TEST(contains(told, "Resuming the run in /storage/run from checkpoint_000000, as attempt 3"));
  BOOST_TEST(contains(told, "ValueError: bad batch"));
  BOOST_TEST(!contains(told, "rank 0"));
  BOOST_TEST(contains(told, "The count of failures starts at 0 again"));
  BOOST_TEST(run.place<Notify>() < run.place<AcquireNodes>());
  run.grant();
  run.restart();
  run.raises(0, "bad batch");
  run.group_ends();
  BOOST_TEST(run.restarts() == 1U);
}

BOOST_AUTO_TEST_CASE(an_aborted_run_says_who_had_ended_it) {
  Journal journal = journal_of(1, "aborted");
  journal.abort_reason = "Ctrl-C";
  Rig run = taken_up(found_run(journal, {}));
  BOOST_TEST(contains(run.last<Notify>().text, "from the beginning, as it has no checkpoint yet"));
  BOOST_TEST(contains(run.last<Notify>().text, "Why it had not finished: Ctrl-C"));
}

BOOST_AUTO_TEST_CASE(a_complete_run_without_a_checkpoint_says_that_it_trains_again_into_the_same_results) {
  Journal journal = journal_of(1, "finished");
  journal.attempt_ends = {"every rank has finished"};
  journal.reports = 8;
  Rig run = taken_up(found_run(journal, {}));
  BOOST_TEST(run.last<Notify>().text ==
             "The run in /storage/run is complete (8 reports) and has no checkpoint: it trains again from the "
             "beginning, as attempt 2, and adds to the same result.json; another RunConfig.name starts a new run.");
}

BOOST_AUTO_TEST_CASE(reports_have_the_run_s_numbers_after_it_was_resumed_and_its_end_says_how_many_are_new) {
  Journal journal = journal_of(1, "aborted");
  journal.reports = 7;
  Rig run = taken_up(found_run(journal, {}));
  run.grant();
  run.restart();
  run.report_all();
  run.report(0);
  const std::string waits = run.controller.view(run.now).ranks.at(0).waits_for;
  BOOST_TEST(waits == "other ranks to come to report #9");
  run.returns(1);
  run.group_ends();
  run.journals();
  BOOST_TEST(run.failure().starts_with("rank 1 finished the training function while rank 0 waits in report #9"));
  BOOST_TEST(contains(run.failure(), "  rank 1: had finished its training function (last report #8)\n"));
  BOOST_TEST(contains(run.last<Finish>().words, ": 8 reports (1 new); "));
}

BOOST_AUTO_TEST_CASE(a_complete_run_says_what_happens_before_it_happens) {
  Journal journal = journal_of(1, "finished");
  journal.attempt_ends = {"every rank has finished"};
  Rig run = taken_up(found_run(journal, {manifest_of(0, 1, 0)}));
  BOOST_TEST(
      run.last<Notify>().text ==
      "The run in /storage/run is complete (1 report). Resuming from checkpoint_000000, as attempt 2 in the same "
      "folder; another RunConfig.name starts a new run.");
  BOOST_TEST(run.place<Notify>() < run.place<WriteJournal>());
}

BOOST_AUTO_TEST_CASE(a_journal_from_before_owners_were_counted_is_gone_on_with) {
  Journal journal = journal_of(1);
  journal.owner_epoch = 0;
  journal.spec.trial_id = "";
  Manifest manifest = manifest_of(0, 1, 0);
  manifest.owner_epoch = 0;
  RunSpec spec = spec_of(2);
  spec.trial_id = "ffffffff";
  FoundRun found = found_run(journal, {manifest});
  found.checkpoints.front().report.reset();
  Rig run = taken_up(found, spec);
  run.grant();
  BOOST_TEST(run.last<WriteJournal>().snapshot.owner_epoch == 1);
  BOOST_TEST(run.last<StartWorkers>().trial_id == "ffffffff");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
