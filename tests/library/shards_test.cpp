#include "library/program_run.hpp"

#include <headway/data.hpp>

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
  /// A run of the same `name` is resumed.
  Ended run(const std::string& mode, const std::string& name) const {
    return run_command(std::string(can_fork ? "" : "HEADWAY_WORKER_START=exec ") + HEADWAY_TEST_DATA_PROGRAM " " +
                       mode + " " + folder.path() + "/" + name + " " + files());
  }
  Ended run(const std::string& mode) const { return run(mode, mode); }

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

/// The rows of an epoch in the order of the program's data set, as one loop gets them.
std::vector<int> order_of_epoch(const std::string& files, int epoch) {
  const data::DataIterator rows_of =
      data::read_csv(files).filter(data::col("id") != left_out).random_shuffle({.seed = 1}).iterator();
  std::vector<int> ids;
  for (int at = 0; at <= epoch; ++at) {
    ids.clear();
    for (const data::Batch& batch : rows_of.batches()) {
      for (const std::int64_t id : batch["id"].as<std::int64_t>()) ids.push_back(static_cast<int>(id));
    }
  }
  return ids;
}

/// How batches of 7 rows are dealt from `begin` to `end`, or to the end: those of each rank.
void deal(const std::vector<int>& order, std::size_t begin, std::size_t end, std::vector<std::string>& ranks) {
  while (end - begin >= ranks.size()) {
    const std::size_t each = std::min<std::size_t>(7, (end - begin) / ranks.size());
    for (std::string& rank : ranks) {
      for (std::size_t i = 0; i < each; ++i) rank += std::to_string(order[begin++]) + " ";
    }
  }
}

/// What three ranks have seen who went on after so many batches of two ranks' second epoch.
std::vector<std::string> resumed_after(std::size_t batches, const std::vector<std::vector<int>>& orders) {
  std::vector<std::string> ranks(2);
  deal(orders[0], 0, orders[0].size(), ranks);
  for (std::string& rank : ranks) rank += "| ";
  deal(orders[1], 0, 14 * batches, ranks);
  ranks.emplace_back("| ");
  deal(orders[1], 14 * batches, orders[1].size(), ranks);
  for (std::string& rank : ranks) rank += "| ";
  return ranks;
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

BOOST_AUTO_TEST_CASE(another_number_of_ranks_resumes_at_the_very_next_row) {
  const Ended stopped = run("stopped", "resumed");
  BOOST_TEST_CONTEXT(stopped.output) { BOOST_TEST_REQUIRE(stopped.code == 1); }
  const Ended resumed = run("resumed_by_three", "resumed");
  BOOST_TEST_CONTEXT(resumed.output) {
    BOOST_TEST_REQUIRE(resumed.code == 0);
    const std::vector<std::vector<int>> orders = {order_of_epoch(files(), 0), order_of_epoch(files(), 1)};
    const std::vector<std::string> ranks = seen_by_ranks(resumed);
    // Rank 1 dies after the fifth batch, of which the checkpoint may not be whole.
    BOOST_TEST((ranks == resumed_after(4, orders) || ranks == resumed_after(5, orders)));
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

BOOST_AUTO_TEST_CASE(last_rows_that_no_rank_gets_are_said_once) {
  const Ended ended = run("by_three");
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST_REQUIRE(ended.code == 0);
    const std::string said = "data set 'train': the last row of an epoch was dropped, because the 3 ranks have equal";
    BOOST_TEST(ended.says(said));
    BOOST_TEST(ended.output.find(said) == ended.output.rfind(said));
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
