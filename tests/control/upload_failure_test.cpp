#include "control/rig.hpp"

/// CheckpointConfig(on_upload_failure="warn"): what cannot be stored is dropped, and training
/// continues.
namespace headway::control {
namespace {

const Error no_space{ErrorKind::unavailable, "no space left on device"};

struct Lenient : Rig {
  Lenient() : Rig(lenient()) { to_running(); }
  static RunSpec lenient() {
    RunSpec spec = spec_of(2);
    spec.checkpoint.on_upload_failure = "warn";
    return spec;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(upload_failure_suite, Lenient)

BOOST_AUTO_TEST_CASE(a_checkpoint_that_cannot_be_begun_stored_or_committed_is_dropped_and_said_each_time) {
  for (const char* step : {"begin", "upload", "commit"}) {
    report_all({{"step", step}}, files({"model.pt"}));
    if (std::string_view(step) == "begin") {
      send(CheckpointBegun{1, last<BeginCheckpoint>().index, no_space});
    } else {
      begun();
      if (std::string_view(step) == "upload") upload_failed(0, no_space.message);
      if (std::string_view(step) == "commit") {
        uploaded(0);
        committed(no_space);
      }
    }
    BOOST_TEST(last<AppendResult>().line.metrics.at("step").as_string() == step);
    BOOST_TEST(!last<AppendResult>().line.checkpoint.has_value());
    const auto answers = of_latest<AnswerReport>();
    BOOST_REQUIRE(answers.size() == 2U);
    for (const AnswerReport& answer : answers) BOOST_TEST((answer.dropped && !answer.error && !answer.checkpoint));
    BOOST_REQUIRE(of_latest<Warn>().size() == 1U);
    BOOST_TEST(contains(of_latest<Warn>()[0].text, "was not stored and is dropped"));
    BOOST_TEST(contains(of_latest<Warn>()[0].text, no_space.message));
  }
  BOOST_TEST(checkpoint() == "checkpoint_000003");
  finish_all();
  BOOST_TEST(outcome().state == "finished");
  BOOST_TEST(outcome().dropped_checkpoints == 3);
  BOOST_TEST(last<WriteJournal>().snapshot.dropped_checkpoints.value() == 3);
}

BOOST_AUTO_TEST_CASE(an_asynchronous_one_is_dropped_and_no_later_report_fails) {
  CheckpointOffer offer = files({"model.pt"});
  offer.asynchronous = true;
  report_all({{"step", 0}}, offer);
  begun();
  BOOST_TEST(count<AnswerReport>() == 2U);
  report_all({{"step", 1}});
  upload_failed(0, no_space.message);
  BOOST_TEST(count<AppendResult>() == 2U);
  BOOST_TEST(all<AppendResult>()[0].line.metrics.at("step").as_int64() == 0);
  for (const AnswerReport& answer : all<AnswerReport>()) BOOST_TEST(!answer.error.has_value());
  finish_all();
  BOOST_TEST(outcome().dropped_checkpoints == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_failure_of_storage_still_raises) {
  CheckpointOffer function;
  function.source = CheckpointSource::function;
  report(0, {}, files({"model.pt"}));
  report(1, {}, function);
  BOOST_TEST(contains(last<AnswerReport>().error.value(), "cannot make one checkpoint"));
  BOOST_TEST(count<AppendResult>() == 0U);
}

BOOST_AUTO_TEST_CASE(the_next_driver_counts_on) {
  FoundRun found;
  found.journal.state = "running";
  found.journal.dropped_checkpoints = 4;
  Rig next(lenient());
  next.start();
  next.send(StoragePrepared{{}, found});
  next.grant();
  next.restart();
  next.finish_all();
  BOOST_TEST(next.outcome().dropped_checkpoints == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
