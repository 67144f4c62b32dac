#include "library/program_run.hpp"

#include <map>
#include <string>
#include <vector>

/// Messages to C++ programs use the names that C++ has for things, and say where exceptions come
/// from.
namespace headway::library {
namespace {

/// Of Python, or of its front end.
const std::vector<std::string> words_of_python{"None",       "True",       "False",    "dict",
                                               "NO_UPLOAD",  "_upload_fn", "dir_name", "get_preemption_info",
                                               "local mode", "ValueError", "TypeError"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(messages_suite, TrainProgram)

BOOST_AUTO_TEST_CASE(an_exception_that_another_thread_threw_has_the_frames_of_its_throw) {
  for (const std::string mode : {"throw_in_task", "throw_by_pointer", "throw_after_many"}) {
    both(mode, [](const Ended& ended) {
      BOOST_TEST(ended.says("error user_code: std::out_of_range: it fell\n"));
      BOOST_TEST(ended.says("#0 headway::test::(anonymous namespace)::fall()"));
      BOOST_TEST(!ended.says("slip()"));
    });
  }
}

BOOST_AUTO_TEST_CASE(an_exception_that_was_never_thrown_has_no_frames_of_another_one) {
  both("throw_what_was_made", [](const Ended& ended) {
    BOOST_TEST(ended.says("error user_code: std::out_of_range: it was made\n"));
    BOOST_TEST(!ended.says("Backtrace"));
  });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_report_is_told_in_the_names_of_its_options) {
  const std::map<std::string, std::string> words{
      {"name_badly", "BadResult: ReportOptions.checkpoint_name is \"a/b\"; allowed: one folder name of 1 to 200 bytes"},
      {"place_under_another_name",
       "BadResult: ReportOptions.checkpoint_name is \"best\" for a checkpoint that is recorded where it lies; allowed: "
       "none, or its directory's, \"placed\""},
      {"place_outside", "BadResult: the checkpoint is to be recorded where it lies: "},
      {"store_outside", " could not store its part of the checkpoint: the function that stores it: "},
      {"report_in_two_ways",
       "ranks 0 and 1 cannot make one checkpoint: one has a function that stores it, the other a directory that is "
       "recorded where it lies"},
      {"report_bytes", "BadResult: metrics[\"best\"][\"names\"][1] is text that is not UTF-8 (\""},
      {"return_bytes", "BadResult: a key of the return value is text that is not UTF-8 (\""},
      {"report_no_directory", "BadResult: checkpoint is Checkpoint::from_directory(\"\"); allowed: the path of a"},
      {"ask_alone", "rank 1 finished the training function while rank 0 waits in preemption_info(), which rank 1"},
  };
  for (const auto& [mode, text] : words) {
    both(mode, [&](const Ended& ended) {
      BOOST_TEST(ended.code == 1);
      BOOST_TEST(ended.says("error user_code: "));
      BOOST_TEST(ended.says(text));
      for (const std::string& word : words_of_python) BOOST_TEST(!ended.says(word), word);
    });
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_call_different_things_are_told_by_what_they_called) {
  both("ask_beside_a_barrier", [&](const Ended& ended) {
    BOOST_TEST(ended.says("rank 0 called preemption_info()") == ended.says("rank 1 called barrier()"));
    BOOST_TEST(ended.says("Every rank must make the same collective calls (barriers, broadcasts, questions for "));
    for (const std::string& word : words_of_python) BOOST_TEST(!ended.says(word), word);
  });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_options_is_told_without_words_of_python) {
  const std::map<std::string, std::string> words{
      {"too_many_workers", "ScalingConfig.num_workers is 1000001; allowed: an integer from 1 to 1000000"},
      {"keep_none", "CheckpointConfig.num_to_keep is 0; allowed: none (keep all) or an integer of at least 1"},
      {"no_score", "CheckpointConfig.checkpoint_score_attribute is \"\"; allowed: none or the key"},
      {"warn_before_now", "FailureConfig.hang_warn_s is -1; allowed: none or 0 (never), or seconds up to 1000000000"},
      {"no_sync_period", "SyncConfig.sync_period is 0; allowed: seconds, above 0"},
      {"sync_for_ever", "SyncConfig.sync_timeout is nan; allowed: seconds, above 0"},
      {"no_accelerator", "ScalingConfig.accelerator_type is \"\"; allowed: none or a type of GPUs, such as"},
      {"gpu_without_use",
       "ScalingConfig.use_gpu is false while resources_per_worker asks for 1 GPU; allowed: true, or"},
      {"use_without_gpu", "[\"GPU\"] is 0 while use_gpu is true; allowed: a number above 0, or use_gpu as false"},
      {"three_selectors", "ScalingConfig.label_selector is a list of 3; allowed: one selector for all workers, or"},
      {"selectors_of_elastic_group", "ScalingConfig.label_selector is a list of 2; allowed: one selector for all"},
  };
  for (const auto& [mode, text] : words) {
    BOOST_TEST_CONTEXT(mode) {
      const Ended ended = run(mode, can_fork ? "fork" : "exec");
      BOOST_TEST_CONTEXT(ended.output) {
        BOOST_TEST(ended.code == 1);
        BOOST_TEST(ended.says("error invalid_argument: "));
        BOOST_TEST(ended.says(text));
        for (const std::string& word : words_of_python) BOOST_TEST(!ended.says(word), word);
        BOOST_TEST(std::filesystem::is_empty(folder.path()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_before_its_main_object_when_it_is_entered_again_is_told_so) {
  if (can_fork) BOOST_TEST(run("main_not_reached", "fork").code == 0);
  const Folder place;
  const Ended ended =
      run_command("HEADWAY_WORKER_START=exec " HEADWAY_TEST_PROGRAM " main_not_reached " + place.path());
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("error worker_died: rank "));
    BOOST_TEST(
        ended.says(" exited with code 4 before it was ready, in attempt 1: it was to be started by a worker factory, "
                   "which is this program entered again and has ended so before it came to headway::Main"));
    BOOST_TEST(ended.says("this machine has its driver already"));
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_waits_before_its_main_object_ends_with_its_driver) {
  const Folder place;
  Pipe pipe("HEADWAY_WORKER_START=exec exec " HEADWAY_TEST_PROGRAM " main_blocked " + place.path() + " 2>&1");
  std::string line = pipe.line();
  while (!line.starts_with("blocked ")) line = pipe.line();
  const Watched blocked(std::stoi(line.substr(line.find(' '))));
  pipe.kill();
  BOOST_TEST(blocked.ends());
}

BOOST_AUTO_TEST_CASE(a_main_object_that_has_ended_is_no_missing_one) {
  both("main_ended", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(
        ended.says("error invalid_argument: this program's headway::Main has ended already; allowed: an object"));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
