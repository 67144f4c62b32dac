#include "control/journal.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::control {

BOOST_AUTO_TEST_SUITE(journal_suite)

BOOST_AUTO_TEST_CASE(a_journal_comes_back_as_it_was_written) {
  Journal journal;
  journal.state = "errored";
  journal.attempt = 3;
  journal.attempt_ends = {"a", "b"};
  journal.checkpoints = {{"checkpoint_000001", 4, {{"loss", 0.25}}}};
  journal.failure = "ValueError: bad batch";
  journal.failure_kind = "user_code";
  journal.failed_ranks = {{1, "ValueError"}};
  journal.failed_in_collective = true;
  journal.owner_epoch = 7;
  journal.owner = "pid 4711 on host-a";
  journal.spec.run = {"run", "/storage"};
  journal.spec.checkpoint.num_to_keep = 2;
  const Result<Journal> read = parse_journal(to_json_text(journal), "run.json");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(to_json_text(*read) == to_json_text(journal));
}

BOOST_AUTO_TEST_CASE(a_journal_of_version_1_is_read_and_what_it_lacks_has_its_default) {
  const Result<Journal> read = parse_journal(
      R"({"state": "running", "attempt": 2, "failures": 1, "attempt_ends": ["killed"], "reports": 5,
          "checkpoints": [{"name": "checkpoint_000000", "index": 0, "metrics": {"loss": 1.5}}],
          "spec": {"run": {"name": "run", "storage_path": "/storage"},
                   "scaling": {"num_workers": 2, "use_gpu": false, "resources_per_worker": {"CPU": 2}},
                   "failure": {"max_failures": 3},
                   "checkpoint": {"num_to_keep": null, "checkpoint_score_attribute": null, "checkpoint_score_order": "max"},
                   "trainer": "TorchTrainer", "trial_id": "0a1b2c3d", "preload": [], "config": {},
                   "resume_from_checkpoint": null},
          "version": 1, "written_unix_s": 1.5})",
      "/storage/run/run.json");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  BOOST_TEST(read->attempt == 2);
  BOOST_TEST(read->checkpoints.at(0).name == "checkpoint_000000");
  BOOST_TEST(read->spec.trial_id == "0a1b2c3d");
  BOOST_TEST(read->spec.scaling.resources_per_worker->at("CPU") == 2.0);
  BOOST_TEST(read->owner_epoch == 0);
  BOOST_TEST(!read->failure.has_value());
}

BOOST_AUTO_TEST_CASE(a_run_json_of_something_else_or_of_a_newer_headway_is_refused_and_named) {
  const auto refused = [](std::string_view text) {
    const Result<Journal> read = parse_journal(text, "/storage/run/run.json");
    BOOST_REQUIRE(!read.has_value());
    BOOST_TEST((read.error().kind == ErrorKind::corrupted));
    BOOST_TEST(read.error().message.starts_with("/storage/run/run.json "));
    return read.error().message;
  };
  BOOST_TEST(refused("{\"sta").find("is not the journal of a run") != std::string::npos);
  BOOST_TEST(refused("[1]").find("it has no version") != std::string::npos);
  BOOST_TEST(refused(R"({"name": "my own run"})").find("it has no version") != std::string::npos);
  BOOST_TEST(refused(R"({"version": 2, "project": "x"})").find("it has no state or no spec") != std::string::npos);
  BOOST_TEST(refused(R"({"version": 2, "state": "running", "spec": 7})")
                 .find("is not the journal of a run: expected an object as \"spec\", found 7") != std::string::npos);
  BOOST_TEST(refused(R"({"version": 99, "state": "running", "spec": {}})")
                 .find("a newer Headway (version 99; this one "
                       "reads up to version 2)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(why_a_run_is_not_complete_is_said_in_its_own_words) {
  Journal journal;
  journal.state = "running";
  BOOST_TEST(unfinished_reason(journal) == "the driver ended before the run did");
  BOOST_TEST(!is_complete(journal));
  journal.state = "aborted";
  journal.abort_reason = "Ctrl-C";
  BOOST_TEST(unfinished_reason(journal) == "Ctrl-C");
  journal.state = "errored";
  journal.failure = "ValueError: bad\nmore";
  BOOST_TEST(unfinished_reason(journal) == "ValueError: bad");
  journal.state = "finished";
  BOOST_TEST(is_complete(journal));
}

BOOST_AUTO_TEST_CASE(a_journal_that_names_a_checkpoint_elsewhere_or_counts_backwards_is_refused) {
  const auto refusal = [](const Journal& journal) {
    const Result<Journal> read = parse_journal(to_json_text(journal), "run.json");
    return read ? "none" : read.error().message;
  };
  Journal elsewhere;
  elsewhere.to_delete = {"../other/checkpoint_1"};
  BOOST_TEST(refusal(elsewhere).starts_with(
      "run.json is not the journal of a run: a checkpoint to delete is \"../other/checkpoint_1\"; allowed: "));
  Journal kept;
  kept.checkpoints = {{"..", 0, {}}};
  BOOST_TEST(refusal(kept).starts_with("run.json is not the journal of a run: a checkpoint is \"..\"; allowed: "));
  Journal counts;
  counts.attempt = -3;
  BOOST_TEST(refusal(counts) == "run.json is not the journal of a run: it counts -3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
