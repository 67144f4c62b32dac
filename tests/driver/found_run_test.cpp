#include "driver/found_run.hpp"
#include "storage/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <sys/stat.h>

namespace headway::driver {

namespace {

using storage::read;
using storage::Scratch;

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string line(int attempt, int index) {
  return R"({"loss": NaN, "time_total_s": )" + std::to_string(index) + R"(.5, "attempt": )" + std::to_string(attempt) +
         R"(, "report_index": )" + std::to_string(index) + "}\n";
}

struct Recovered {
  control::FoundResults results;
  std::vector<std::string> warnings;
  std::string file;
};
Recovered recover(const std::string& text) {
  const Scratch scratch;
  const std::string path = scratch.run + "/result.json";
  write(path, text);
  Recovered recovered;
  const Result<control::FoundResults> results = recover_results(path, recovered.warnings);
  BOOST_REQUIRE(results.has_value());
  recovered.results = *results;
  recovered.file = read(path);
  return recovered;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(found_run_suite)

BOOST_AUTO_TEST_CASE(whole_lines_are_counted_and_the_last_one_read) {
  const Recovered recovered = recover(line(1, 0) + line(1, 1) + line(2, 0));
  BOOST_TEST(recovered.results.lines == 3);
  BOOST_TEST(recovered.results.attempt == 2);
  BOOST_TEST(recovered.results.index == 0);
  BOOST_TEST(recovered.results.time_total_s == 0.5);
  BOOST_TEST(recovered.warnings.empty());
}

BOOST_AUTO_TEST_CASE(a_torn_last_line_is_cut_off_wherever_it_is_torn) {
  const std::string whole = line(1, 0) + line(1, 1);
  const std::string torn = line(1, 2);
  for (std::size_t size = 1; size < torn.size(); ++size) {
    const Recovered recovered = recover(whole + torn.substr(0, size));
    BOOST_TEST(recovered.file == whole);
    BOOST_TEST(recovered.results.lines == 2);
    BOOST_TEST(recovered.results.index == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_first_line_that_is_torn_leaves_no_lines) {
  const Recovered recovered = recover(line(1, 0).substr(0, 20));
  BOOST_TEST(recovered.file.empty());
  BOOST_TEST(recovered.results.lines == 0);
  BOOST_TEST(recovered.results.attempt == 0);
  BOOST_TEST(recovered.results.index == -1);
}

BOOST_AUTO_TEST_CASE(lines_longer_than_what_is_read_at_a_time) {
  const std::string huge = R"({"text": ")" + std::string(3 << 20, 'x') +
                           R"(", "attempt": 4, "report_index": 9})"
                           "\n";
  const Recovered recovered = recover(line(1, 0) + huge + huge.substr(0, 2 << 20));
  BOOST_TEST((recovered.file == line(1, 0) + huge));
  BOOST_TEST(recovered.results.lines == 2);
  BOOST_TEST(recovered.results.attempt == 4);
  BOOST_TEST(recovered.results.index == 9);
}

BOOST_AUTO_TEST_CASE(a_last_line_that_is_none_of_ours_is_left_with_a_warning) {
  const Recovered recovered = recover(line(1, 0) + "not ours\n");
  BOOST_TEST(recovered.file == line(1, 0) + "not ours\n");
  BOOST_TEST(recovered.results.lines == 2);
  BOOST_REQUIRE(recovered.warnings.size() == 1U);
  BOOST_TEST(recovered.warnings.front().find("result.json is none of Headway's") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_results_are_no_lines_and_an_empty_folder_is_no_run) {
  const Scratch scratch;
  std::vector<std::string> warnings;
  const auto results = recover_results(scratch.run + "/result.json", warnings);
  BOOST_REQUIRE(results.has_value());
  BOOST_TEST(results->lines == 0);
  const auto found = find_run(scratch.run, scratch.run, warnings);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(!found->has_value());
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_cannot_be_read_is_told_and_does_not_count) {
  const Scratch scratch;
  control::Journal journal;
  journal.state = "running";
  write(scratch.run + "/run.json", to_json_text(journal));
  for (const char* name : {"/checkpoint_000000", "/checkpoint_000001"}) {
    BOOST_REQUIRE(mkdir((scratch.run + name).c_str(), 0755) == 0);
    write(scratch.run + name + "/.headway.json", to_json_text(Manifest{}));
  }
  write(scratch.run + "/checkpoint_000001/.headway.json", "{\"vers");
  std::vector<std::string> warnings;
  const auto found = find_run(scratch.run, scratch.run, warnings);
  BOOST_REQUIRE(found.has_value());
  BOOST_REQUIRE(found->has_value());
  BOOST_REQUIRE((*found)->checkpoints.size() == 1U);
  BOOST_TEST((*found)->checkpoints.front().checkpoint == "checkpoint_000000");
  BOOST_REQUIRE(warnings.size() == 1U);
  BOOST_TEST(warnings.front().find("checkpoint_000001/.headway.json") != std::string::npos);
  BOOST_TEST((*found)->names.size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_trial_whose_journal_went_with_the_power_is_what_its_checkpoints_say) {
  const Scratch scratch;
  BOOST_REQUIRE(mkdir((scratch.run + "/checkpoint_000000").c_str(), 0755) == 0);
  write(scratch.run + "/checkpoint_000000/.headway.json", to_json_text(Manifest{}));
  write(scratch.run + "/result.json", line(1, 0));
  std::vector<std::string> warnings;
  const std::string whole = to_json_text(control::Journal{}) + "\n";
  for (const std::string& left : {std::string(), std::string(whole.size(), '\0'), whole.substr(0, 30)}) {
    write(scratch.run + "/run.json", left);
    BOOST_TEST((find_run(scratch.run, scratch.run, warnings).error().kind == ErrorKind::corrupted));
    const auto found = storage::must(find_run(scratch.run, scratch.run, warnings, false));
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST(found->checkpoints.size() == 1U);
    BOOST_TEST(found->results.lines == 1);
  }
  // A whole file of another kind is no such loss.
  write(scratch.run + "/run.json", "{\"version\": 99}\n");
  BOOST_TEST((find_run(scratch.run, scratch.run, warnings, false).error().kind == ErrorKind::corrupted));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
