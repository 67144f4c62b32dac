#include <headway/trainer.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace headway {

namespace fs = std::filesystem;

namespace {

/// A copy of the kept run, gone with the test.
struct FoundRun {
  FoundRun() {
    std::string pattern = (fs::temp_directory_path() / "headway-library-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    run = root + "/run";
    fs::copy(HEADWAY_TEST_RUN, run, fs::copy_options::recursive);
  }
  ~FoundRun() { fs::remove_all(root); }
  FoundRun(const FoundRun&) = delete;
  FoundRun& operator=(const FoundRun&) = delete;

  std::string root;
  std::string run;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(found_result_suite, FoundRun)

BOOST_AUTO_TEST_CASE(a_finished_run_is_read_from_its_folder) {
  for (const std::string& path : {run, run + "/", "file://" + run}) {
    const TrainResult result = TrainResult::from_path(path).value();
    BOOST_TEST(result.path == run);
    BOOST_TEST(result.metrics.at("training_iteration").as_int() == 4);
    BOOST_TEST(result.metrics.at("done").as_bool());
    BOOST_TEST(result.config.at("lr").as_double() == 0.1);
    BOOST_TEST(result.attempts == 1);
    BOOST_TEST(!result.error);
    BOOST_TEST(result.damaged.empty());
    BOOST_REQUIRE(result.best_checkpoints.size() == 3u);
    BOOST_TEST(result.checkpoint->path() == run + "/checkpoint_000002");
    BOOST_TEST(result.get_best_checkpoint("eval/loss", "max").value().path() == run + "/checkpoint_000000");
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_has_not_come_far_is_read_too) {
  for (const std::string name : {"checkpoint_000000", "checkpoint_000001", "checkpoint_000002", "params.json"})
    fs::remove_all(run + "/" + name);
  // The second line is being written.
  std::ofstream(run + "/result.json") << "{\"epoch\":0}\n{\"epoch\":";
  const TrainResult begun = TrainResult::from_path(run).value();
  BOOST_TEST(begun.metrics.at("epoch").as_int() == 0);
  BOOST_TEST(!begun.checkpoint);
  BOOST_TEST(begun.config.is_null());
  fs::remove(run + "/result.json");
  BOOST_TEST(TrainResult::from_path(run).value().metrics.is_null());
}

BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_is_left_out_and_told) {
  std::ofstream(run + "/checkpoint_000002/.headway.json") << "{";
  const TrainResult result = TrainResult::from_path(run).value();
  BOOST_TEST(result.checkpoint->path() == run + "/checkpoint_000001");
  BOOST_REQUIRE(result.damaged.size() == 1u);
  BOOST_TEST(result.damaged.front().find(run + "/checkpoint_000002/.headway.json") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_holds_no_run_or_a_damaged_one_is_told) {
  BOOST_TEST((TrainResult::from_path(root).error().kind == ErrorKind::not_found));
  BOOST_TEST((TrainResult::from_path("").error().kind == ErrorKind::invalid_argument));
  std::ofstream(run + "/run.json") << "{";
  const Error damaged = TrainResult::from_path(run).error();
  BOOST_TEST((damaged.kind == ErrorKind::corrupted));
  BOOST_TEST(damaged.message.find(run + "/run.json") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
