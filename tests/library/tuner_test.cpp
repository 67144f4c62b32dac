#include "library/program_run.hpp"

#include <algorithm>
#include <map>

/// Experiments of C++ programs.
namespace headway::library {
namespace {

struct TunerProgram {
  Folder folder;

  Ended run(const std::string& mode) const {
#if defined(__SANITIZE_THREAD__)
    const std::string start = "HEADWAY_WORKER_START=exec ";  // ThreadSanitizer starts a thread.
#else
    const std::string start;
#endif
    return run_command(start + HEADWAY_TEST_TUNER + " " + mode + " " + folder.path());
  }
};

std::vector<std::string> lines_of(const Ended& ended, const std::string& begin) {
  std::vector<std::string> found;
  std::istringstream lines(ended.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) found.push_back(line);
  }
  return found;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tuner_suite, TunerProgram)

BOOST_AUTO_TEST_CASE(asha_ends_the_worse_ones_of_a_space_whose_draws_are_a_function_of_the_seed) {
  const Ended ended = run("asha");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    const std::vector<std::string> trials = lines_of(ended, "trial ");
    BOOST_REQUIRE(trials.size() == 16U);
    BOOST_TEST(trials[0].find(R"("model":{"depth":1},"name":"small"})") != std::string::npos);
    BOOST_TEST(trials[1].find(R"("model":{"depth":2},"name":"small"})") != std::string::npos);
    BOOST_TEST(std::ranges::count_if(trials, [](const std::string& line) {
                 return line.find("terminated after 1: ASHA: ") != std::string::npos;
               }) >= 4);
    BOOST_TEST(ended.says("terminated after 9: "));
    BOOST_TEST(lines_of(ended, "best ").size() == 1U);
    TunerProgram again;
    const auto configs = [](const std::vector<std::string>& all) {
      std::vector<std::string> found;
      for (const std::string& line : all) found.push_back(line.substr(0, line.find("} ")));
      return found;
    };
    BOOST_TEST(configs(lines_of(again.run("asha"), "trial ")) == configs(trials), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(an_experiment_whose_driver_was_killed_is_resumed_and_ends_as_one_that_was_not) {
  BOOST_TEST(run("killed").code == 128 + SIGKILL);
  const Ended ended = run("killed");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    const std::vector<std::string> trials = lines_of(ended, "trial ");
    BOOST_REQUIRE(trials.size() == 3U);
    for (const std::string& trial : trials) BOOST_TEST(trial.find(" terminated after ") != std::string::npos);
    BOOST_TEST(lines_of(ended, R"(best {"x":1)").size() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_trial_that_fails_is_in_the_grid_with_its_reason_and_a_folder_is_not_used_twice) {
  const Ended ended = run("again");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.says(R"(trial {"x":2} errored after 1: )"));
    BOOST_TEST(ended.says("two is too much"));
    BOOST_TEST(ended.says("errors 1"));
    BOOST_TEST(ended.says(R"(best {"x":1})"));
    BOOST_TEST(ended.says("error already_exists: " + folder.path() + "/run has an experiment; give another "));
  }
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused_before_anything_starts) {
  const std::map<std::string, std::string> words = {
      {"bounds", R"(TunerOptions.space["lr"] is loguniform(0.0, 1.0); allowed: finite numbers above 0)"},
      {"twice", R"(TunerOptions.space is one with "model/depth" and "model"; allowed: )"},
      {"mode", R"(TuneConfig.mode is "least"; allowed: "min" or "max")"},
      {"metric", "TuneConfig.metric is empty with an ASHAScheduler; allowed: "},
      {"scheduler", "reduction_factor is 1"}};
  for (const auto& [mode, text] : words) {
    const Ended ended = run(mode);
    BOOST_TEST_CONTEXT(mode << ": " << ended.output) {
      BOOST_TEST(ended.code == 1);
      BOOST_TEST(ended.says("error invalid_argument: "));
      BOOST_TEST(ended.says(text));
    }
  }
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/run"));
  const Ended missing = run("missing");
  BOOST_TEST(missing.says("has no number \"accuracy\""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
