#include "driver/progress_csv.hpp"
#include "driver/file_size_limit.hpp"
#include "storage/scratch.hpp"

namespace headway::driver {
namespace {

using storage::must;
using storage::read;

struct Reports : storage::Scratch {
  /// What the driver does with a report: result.json first, then the row.
  Result<void> report(ProgressCsv& csv, std::string_view line) {
    std::ofstream(results, std::ios::app | std::ios::binary) << line << '\n';
    return csv.append(parse_json(line, "a line")->get_object());
  }

  std::string text() const { return read(csv_path); }

  std::string results = path("result.json");
  std::string csv_path = path("progress.csv");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(progress_csv_suite, Reports)

BOOST_AUTO_TEST_CASE(each_report_is_a_row_at_once_below_the_first_ones_columns) {
  ProgressCsv csv(csv_path, results);
  must(report(csv, R"({"training_iteration": 1, "loss": 0.5, "eval": {"f1": 1}})"));
  BOOST_TEST(text() == "training_iteration,loss,eval/f1\n1,0.5,1\n");
  must(report(csv, R"({"eval": {"f1": 2}, "training_iteration": 2})"));
  BOOST_TEST(text().ends_with("\n2,,2\n"));
}

BOOST_AUTO_TEST_CASE(numbers_read_as_they_were) {
  ProgressCsv csv(csv_path, results);
  must(report(csv, R"({"tenth": 0.1, "one": 1.0, "tiny": 1e-300, "big": 18446744073709551615})"));
  BOOST_TEST(text() == "tenth,one,tiny,big\n0.1,1.0,1e-300,18446744073709551615\n");
}

BOOST_AUTO_TEST_CASE(values_that_are_no_numbers_for_json_are_written_as_other_programs_read_them) {
  ProgressCsv csv(csv_path, results);
  must(report(
      csv, R"({"a": NaN, "b": Infinity, "c": -Infinity, "d": true, "e": false, "f": null, "g": [1, "x"], "h": ""})"));
  BOOST_TEST(text() == "a,b,c,d,e,f,g,h\nnan,inf,-inf,True,False,,\"[1,\"\"x\"\"]\",\"\"\n");
}

BOOST_AUTO_TEST_CASE(commas_quotes_and_line_ends_are_quoted_in_names_and_in_values) {
  ProgressCsv csv(csv_path, results);
  must(report(csv, R"({"a,b": "x,y", "say \"so\"": "he said \"no\"", "lines": "one\ntwo\r", "plain": "a b"})"));
  BOOST_TEST(text() == "\"a,b\",\"say \"\"so\"\"\",lines,plain\n\"x,y\",\"he said \"\"no\"\"\",\"one\ntwo\r\",a b\n");
}

BOOST_AUTO_TEST_CASE(a_new_column_comes_with_the_rows_before_it_and_nothing_is_lost) {
  ProgressCsv csv(csv_path, results);
  must(report(csv, R"({"i": 1, "loss": 3})"));
  must(report(csv, R"({"i": 2, "loss": 2, "accuracy": 7})"));
  BOOST_TEST(text() == "i,loss,accuracy\n1,3,\n2,2,7\n");
  must(report(csv, R"({"i": 3, "accuracy": 8})"));
  BOOST_TEST(text() == "i,loss,accuracy\n1,3,\n2,2,7\n3,,8\n");
}

BOOST_AUTO_TEST_CASE(columns_that_come_faster_than_the_file_is_rewritten_are_there_in_the_end) {
  ProgressCsv csv(csv_path, results);
  for (int i = 0; i < 200; ++i) {
    must(report(csv, "{\"i\": " + std::to_string(i) + ", \"m" + std::to_string(i) + "\": 1}"));
  }
  must(csv.finish());
  const std::string whole = text();
  BOOST_TEST(whole.starts_with("i,m0,m1,"));
  BOOST_TEST(std::count(whole.begin(), whole.end(), '\n') == 201);
  BOOST_TEST(whole.ends_with("\n199," + std::string(199, ',') + "1\n"));
}

BOOST_AUTO_TEST_CASE(a_run_that_is_taken_up_again_goes_on_in_its_file) {
  {
    ProgressCsv csv(csv_path, results);
    must(report(csv, R"({"i": 1, "loss": 3})"));
    must(report(csv, R"({"i": 2, "loss": 2})"));
  }
  // The driver was killed while it wrote a line, and a row.
  std::ofstream(results, std::ios::app) << R"({"i": 3, "lo)" << '\n';
  std::ofstream(csv_path, std::ios::app) << "3";
  ProgressCsv again(csv_path, results);
  must(report(again, R"({"i": 3, "accuracy": 9})"));
  BOOST_TEST(text() == "i,loss,accuracy\n1,3,\n2,2,\n3,,9\n");
  must(report(again, R"({"i": 4, "loss": 1})"));
  BOOST_TEST(text().ends_with("\n4,1,\n"));
}

BOOST_AUTO_TEST_CASE(rows_that_a_full_disk_did_not_take_come_when_there_is_space_again) {
  ProgressCsv csv(csv_path, results);
  must(report(csv, R"({"i": 1, "loss": 3})"));
  std::ofstream(results, std::ios::app | std::ios::binary) << R"({"i": 2, "loss": 2})" << '\n';
  {
    const FileSizeLimit full(10);
    const Error error = storage::error_of(csv.append(parse_json(R"({"i": 2, "loss": 2})", "a line")->get_object()));
    BOOST_TEST(storage::contains(error.message, csv_path));
  }
  BOOST_TEST(text() == "i,loss\n1,3\n");
  must(report(csv, R"({"i": 3, "loss": 1})"));
  must(csv.finish());
  BOOST_TEST(text() == "i,loss\n1,3\n2,2\n3,1\n");
}

BOOST_AUTO_TEST_CASE(a_run_without_reports_has_no_file) {
  ProgressCsv csv(csv_path, results);
  must(csv.finish());
  BOOST_TEST(!storage::fs::exists(csv_path));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
