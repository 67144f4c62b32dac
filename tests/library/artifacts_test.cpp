#include "library/program_run.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <string>

/// Where the ranks of C++ programs work, and what becomes of the files that they write there.
namespace headway::library {
namespace {

namespace fs = std::filesystem;

/// Of all programs that these tests start.
struct OwnStaging {
  OwnStaging() { setenv("HEADWAY_STAGING_DIR", place.path().c_str(), 1); }
  Folder place;
};

BOOST_TEST_GLOBAL_FIXTURE(OwnStaging);

struct WorkingProgram : TrainProgram {
  std::string artifact(const std::string& name) const {
    std::ifstream file(folder.path() + "/run/artifacts/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The working directory, as the ranks have told it.
  static std::string trial_dir(const Ended& ended) {
    const std::string before = "which is ";
    const std::size_t begin = ended.output.find(before);
    BOOST_REQUIRE(begin != std::string::npos);
    const std::size_t start = begin + before.size();
    return ended.output.substr(start, ended.output.find('\n', start) - start);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(artifacts_suite, WorkingProgram)

BOOST_AUTO_TEST_CASE(ranks_share_a_directory_that_is_not_the_drivers_and_goes_when_it_is_empty) {
  both("share_directory", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("(rank 0) sees 2\n"));
    BOOST_TEST(ended.says("(rank 1) sees 2\n"));
    BOOST_TEST(ended.says("(rank 1) works in trial_dir 1, which is "));
    const std::string below = std::string(std::getenv("HEADWAY_STAGING_DIR")) + "/working_dirs/run/";
    BOOST_TEST(trial_dir(ended).starts_with(below));
    BOOST_TEST(!fs::exists(trial_dir(ended)));
  });
}

BOOST_AUTO_TEST_CASE(files_stay_after_the_run_and_a_notice_says_where) {
  both("leave_files", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(fs::exists(trial_dir(ended) + "/notes_of_rank_1"));
    BOOST_TEST(!fs::exists(folder.path() + "/run/artifacts"));
    BOOST_TEST(ended.says("what the ranks wrote into their working directory is in " + trial_dir(ended) +
                          " (with SyncConfig.sync_artifacts it comes to the run's folder)"));
  });
}

BOOST_AUTO_TEST_CASE(a_restart_finds_the_directory_as_it_was) {
  both("go_on_in_directory", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("(rank 0) lives xx\n"));
    BOOST_TEST(ended.says("(rank 1) lives xx\n"));
  });
}

BOOST_AUTO_TEST_CASE(artifacts_come_with_a_checkpoint_and_at_the_end_and_the_directory_goes) {
  both("sync_at_checkpoint", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);  // The ranks have waited for what came with the checkpoint.
    for (const std::string rank : {"rank_0", "rank_1"}) {
      BOOST_TEST(artifact("plots/" + rank + "/first") == "first");
      BOOST_TEST(artifact("plots/" + rank + "/second") == "second");
    }
  });
  both("sync_at_end", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(artifact("notes_of_rank_1") == "mine");
    BOOST_TEST(!fs::exists(trial_dir(ended)));
  });
}

BOOST_AUTO_TEST_CASE(artifacts_of_a_run_that_fails_come_too) {
  both("sync_after_failure", [&](const Ended& ended) {
    BOOST_TEST(ended.says("error user_code: std::runtime_error: diverged"));
    BOOST_TEST(artifact("last_words") == "nan");
  });
}

BOOST_AUTO_TEST_CASE(every_period_brings_what_is_new_or_has_changed_and_nothing_else) {
  both("sync_every_period", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("the same file is copied before\n"));
    BOOST_TEST(artifact("same") == "copied before");
    BOOST_TEST(artifact("grows") == "12");
  });
}

BOOST_AUTO_TEST_CASE(a_copy_that_takes_too_long_is_stopped_and_the_files_stay) {
  both("sync_too_slowly", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(
        ended.says("bringing the ranks' working directory to artifacts/ was not through after 0.05 s and was "
                   "stopped; what was not brought there stays where it is"));
    BOOST_TEST(!fs::exists(folder.path() + "/run/artifacts/large"));
  });
}

BOOST_AUTO_TEST_CASE(the_environment_leaves_ranks_where_the_driver_works) {
  for (const std::string variable : {"HEADWAY_CHDIR_TO_TRIAL_DIR", "RAY_CHDIR_TO_TRIAL_DIR"}) {
    const auto check = [&](const Ended& ended) {
      BOOST_TEST(ended.code == 0);
      BOOST_TEST(ended.says("(rank 0) works in trial_dir 0, which is "));
      BOOST_TEST(ended.says("(rank 1) the driver's data: some data\n"));
      BOOST_TEST(artifact("artifact_of_rank_0") == "here");
      BOOST_TEST(!fs::exists(trial_dir(ended)));
    };
    both("sync_from_trial_dir", check, variable + "=0 ");
  }
  const Ended refused = run("share_directory", "exec", "HEADWAY_CHDIR_TO_TRIAL_DIR=no ");
  BOOST_TEST(
      refused.says("error invalid_argument: HEADWAY_CHDIR_TO_TRIAL_DIR is \"no\" in the environment; allowed: "
                   "1 (default) or 0"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
