#include "library/program_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Where the runs of C++ programs lie, what they leave there, and which of their checkpoints are
/// kept.
namespace headway::library {
namespace {

struct KeepingProgram : TrainProgram {
  std::string in_run(const std::string& name) const {
    std::ifstream file(folder.path() + "/run/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(keeping_suite, KeepingProgram)

BOOST_AUTO_TEST_CASE(metrics_are_reduced_over_the_ranks_as_the_report_asks) {
  both("reduce_metrics", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("\"loss\":1.0,\"samples\":20"));
  });
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_cannot_be_stored_is_dropped_where_training_is_to_continue) {
  both("drop_checkpoint", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("was not stored and is dropped"));
    BOOST_TEST(ended.says("the store is away"));
    BOOST_TEST(ended.says("dropped 1\n"));
  });
}

BOOST_AUTO_TEST_CASE(of_files_of_one_name_the_lowest_ranks_is_kept_with_one_warning) {
  both("give_one_name", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("kept checkpoint_000001 of 1 files, whole"));
    BOOST_TEST(in_run("checkpoint_000001/model") == "of rank 0");
    const std::string warning = "ranks 0 and 1 both put a file named \"model\" into one checkpoint; rank 0's is kept";
    const std::size_t first = ended.output.find(warning);
    BOOST_REQUIRE(first != std::string::npos);
    BOOST_TEST(ended.output.find(warning, first + 1) == std::string::npos);
  });
}

BOOST_AUTO_TEST_CASE(the_best_by_a_nested_metric_and_the_newest_are_kept) {
  both("keep_best", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    // The newer one of equals.
    BOOST_TEST(ended.says("attempts 1\nkept checkpoint_000002 of 2 files, whole\n"));
    BOOST_TEST(ended.says("kept checkpoint_000004 of 2 files, whole\n"));
    for (const std::string name : {"0", "1", "3"}) BOOST_TEST(!ended.says("kept checkpoint_00000" + name));
    BOOST_TEST(
        ended.says("checkpoint_score_attribute \"eval/loss\" is not a number in the metrics of "
                   "checkpoint_000003; it ranks last. The metrics there are: eval."));
  });
}

BOOST_AUTO_TEST_CASE(an_asynchronous_checkpoint_that_was_not_stored_is_told_by_a_report_that_follows) {
  both("fail_asynchronously", [](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    for (const std::string rank : {"(rank 0) ", "(rank 1) "})
      BOOST_TEST(ended.says(rank + "told the checkpoint checkpoint_000000 of report #1 was not stored"));
    BOOST_TEST(ended.says("\"i\":3"));
    BOOST_TEST(!ended.says("kept checkpoint_000000"));
  });
  both("fail_at_last", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("checkpoint_000000 of report #1 was not stored"));
  });
}

BOOST_AUTO_TEST_CASE(a_run_leaves_its_reports_as_lines_a_table_and_events_and_its_configuration) {
  both("sum_up", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    const std::string lines = in_run("result.json");
    BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 3);
    BOOST_TEST(lines.find("\"step\":0") < lines.find('\n'));
    const std::string table = in_run("progress.csv");
    BOOST_TEST(std::count(table.begin(), table.end(), '\n') == 4);
    BOOST_TEST(table.find("doubled") < table.find('\n'));
    BOOST_TEST(in_run("params.json").find("\"x\":21") != std::string::npos);
    BOOST_TEST(in_run("logs/rank_1.log").find("rank 1 of 2") != std::string::npos);
    const std::filesystem::directory_iterator files(folder.path() + "/run");
    BOOST_TEST(std::count_if(begin(files), end(files), [](const auto& each) {
                 return each.path().filename().string().starts_with("events.out.tfevents.");
               }) == 1);
  });
}

BOOST_AUTO_TEST_CASE(a_name_of_a_run_that_is_complete_says_what_happens_before_it_happens) {
  both("report_once", [&](const Ended& first) {
    BOOST_TEST(first.code == 0);
    const Ended again = run("report_once", can_fork ? "fork" : "exec");
    BOOST_TEST_CONTEXT(again.output) {
      BOOST_TEST(again.code == 0);
      const std::size_t said = again.output.find(
          "is complete (1 report) and has no checkpoint: it trains again from the beginning, as attempt 2, and adds to "
          "the same result.json; another RunConfig.name starts a new run.");
      BOOST_REQUIRE(said != std::string::npos);
      BOOST_TEST(said < again.output.find("attempts 2"));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_environment_says_where_runs_go_that_do_not_say_so_themselves) {
  const auto at = [&](const std::string& place) {
    return [this, place](const Ended& ended) {
      BOOST_TEST(ended.code == 0);
      BOOST_TEST(std::filesystem::exists(folder.path() + place + "/run/result.json"));
    };
  };
  const std::string home = "HOME=" + folder.path() + " ";
  const std::string ours = "HEADWAY_STORAGE=" + folder.path() + "/ours ";
  const std::string others = "RAY_STORAGE=file://" + folder.path() + "/others ";
  both("store_as_the_environment_says", at("/headway_results"), home + "HEADWAY_STORAGE= RAY_STORAGE= ");
  both("store_as_the_environment_says", at("/others"), home + "HEADWAY_STORAGE= " + others);
  both("store_as_the_environment_says", at("/ours"), home + ours + others);
}

BOOST_AUTO_TEST_CASE(storage_that_cannot_be_written_is_told_before_workers_start) {
  both("store_nowhere", [](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("error "));
    BOOST_TEST(ended.says("RunConfig.storage_path"));
    BOOST_TEST(ended.says("/proc/runs"));
    BOOST_TEST(!ended.says("(rank "));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
