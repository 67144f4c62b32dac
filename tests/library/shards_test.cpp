#include "library/program_run.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>

/// Data sets of trainers in C++.
namespace headway::library {
namespace {

constexpr int rows = 101;
constexpr int left_out = 13;

struct DataProgram {
  DataProgram() {
    std::filesystem::create_directories(files());
    for (int file = 0; file < 4; ++file) {
      std::ofstream csv(files() + "/part-" + std::to_string(file) + ".csv");
      csv << "id,name\n";
      for (int id = file; id < rows; id += 4) csv << id << ",row " << id << '\n';
    }
  }

  std::string files() const { return folder.path() + "/files"; }
  Ended run(const std::string& mode, const std::string& variables = "") const {
    return run_command(variables + (can_fork ? "" : "HEADWAY_WORKER_START=exec ") + HEADWAY_TEST_DATA_PROGRAM " " +
                       mode + " " + folder.path() + "/" + mode + " " + files());
  }

  Folder folder;
};

/// What the ranks have seen, a line a rank.
std::vector<std::string> seen_by_ranks(const Ended& ended) {
  std::istringstream text(ended.output.substr(ended.output.find("seen:\n") + 6));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// All ids of an epoch, from the least to the greatest.
std::vector<int> ids_of(const std::vector<std::string>& ranks, int epoch) {
  std::vector<int> ids;
  for (const std::string& line : ranks) {
    std::istringstream words(line);
    int at = 0;
    for (std::string word; words >> word;) {
      if (word == "|") {
        ++at;
      } else if (at == epoch) {
        ids.push_back(std::stoi(word));
      }
    }
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<int> all_ids() {
  std::vector<int> ids(rows);
  std::iota(ids.begin(), ids.end(), 0);
  std::erase(ids, left_out);
  return ids;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shards_suite, DataProgram)

BOOST_AUTO_TEST_CASE(a_rank_dies_in_mid_epoch_and_every_row_is_seen_once_in_the_same_order) {
  const Ended killed = run("killed");
  BOOST_TEST_CONTEXT(killed.output) {
    BOOST_TEST_REQUIRE(killed.code == 0);
    BOOST_TEST(killed.says("attempts: 2\n"));
  }
  const std::vector<std::string> ranks = seen_by_ranks(killed);
  BOOST_TEST_REQUIRE(ranks.size() == 2U);
  BOOST_TEST(ids_of(ranks, 0) == all_ids(), boost::test_tools::per_element());
  BOOST_TEST(ids_of(ranks, 1) == all_ids(), boost::test_tools::per_element());
  const Ended undisturbed = run("undisturbed");
  BOOST_TEST_CONTEXT(undisturbed.output) {
    BOOST_TEST(undisturbed.says("attempts: 1\n"));
    BOOST_TEST(seen_by_ranks(undisturbed) == ranks, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_function_of_batches_runs_in_the_ranks_and_without_a_shuffle_rows_keep_their_order) {
  const Ended ended = run("function");
  BOOST_TEST_CONTEXT(ended.output) { BOOST_TEST_REQUIRE(ended.code == 0); }
  std::vector<int> raised = all_ids();
  for (int& id : raised) id += 100;
  BOOST_TEST(ids_of(seen_by_ranks(ended), 0) == raised, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_rank_gets_all_rows_of_a_data_set_that_is_not_split) {
  const Ended ended = run("not_split");
  BOOST_TEST_CONTEXT(ended.output) { BOOST_TEST_REQUIRE(ended.code == 0); }
  for (const std::string& rank : seen_by_ranks(ended)) {
    BOOST_TEST(ids_of({rank}, 0) == all_ids(), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(names_that_there_are_not_are_told_with_those_that_there_are) {
  const Ended split = run("unknown_split");
  BOOST_TEST(
      split.says("invalid_argument: TrainerOptions.datasets_to_split has \"test\"; allowed: names of "
                 "TrainerOptions.datasets: \"train\"\n"));
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/unknown_split"));
  const Ended shard = run("unknown_name");
  BOOST_TEST(shard.says("there is no data set \"test\": the trainer has \"train\""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
