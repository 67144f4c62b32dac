#include "flow/functions/whole_operation.hpp"

#include "flow/functions/function_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <fstream>

namespace {

using headway::flow::batch_of;
using headway::flow::FunctionFixture;
using headway::flow::values_of;

/// Python's own words say whether DuckDB is installed.
boost::test_tools::assertion_result has_duckdb(boost::unit_test::test_unit_id) {
  return headway::flow::printed_by_python("import importlib.util as u; print(u.find_spec(\"duckdb\") is not None)") ==
         "True\n";
}

struct WholeFixture : FunctionFixture {
  /// Descending numbers, in batches.
  std::shared_ptr<arrow::RecordBatchReader> falling(std::int64_t rows, std::int64_t batch_rows) {
    std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
    for (std::int64_t first = rows; first > 0; first -= batch_rows) {
      arrow::Int64Builder builder;
      for (std::int64_t i = first; i > first - batch_rows && i > 0; --i) builder.Append(i).ok();
      batches.push_back(batch_of("x", builder.Finish().ValueOrDie()));
    }
    return arrow::RecordBatchReader::Make(batches).ValueOrDie();
  }

  headway::flow::WholeSpec sort() {
    headway::flow::WholeSpec spec;
    spec.name = "sort";
    spec.arguments = R"({"operation": "sort", "options": {"keys": ["x"], "descending": [false]}})";
    spec.memory_bytes = 256 << 20;
    spec.scratch = folder.string();
    return spec;
  }

  std::vector<std::string> left_in_scratch() const {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder)) names.push_back(each.path().filename());
    return names;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(whole_operation, *boost::unit_test::precondition(has_duckdb))

BOOST_FIXTURE_TEST_CASE(rows_of_many_batches_are_sorted, WholeFixture) {
  const auto sorted = headway::flow::run_whole(host, sort(), {falling(100'000, 3'000)}).ValueOrDie();
  BOOST_TEST(sorted->schema()->Equals(*arrow::schema({arrow::field("x", arrow::int64())})));
  const auto values = values_of(sorted->ToRecordBatches().ValueOrDie(), "x");
  BOOST_TEST(values.size() == 100'000);
  BOOST_TEST(std::is_sorted(values.begin(), values.end()));
}

BOOST_FIXTURE_TEST_CASE(what_is_spilled_is_announced_and_goes_with_the_result, WholeFixture) {
  auto spec = sort();
  spec.memory_bytes = 64 << 20;  // The least that DuckDB works with.
  std::int64_t announced = 0;
  spec.spilled = [&](std::int64_t bytes, const std::string&) { announced = bytes; };
  auto sorted = headway::flow::run_whole(host, spec, {falling(12'000'000, 100'000)}).ValueOrDie();
  std::shared_ptr<arrow::RecordBatch> batch;
  BOOST_TEST(sorted->ReadNext(&batch).ok());
  BOOST_TEST(values_of({batch}, "x").front() == 1);
  BOOST_TEST(announced > 0);
  BOOST_TEST(left_in_scratch().size() == 1);
  sorted.reset();
  BOOST_TEST(left_in_scratch().empty());
}

BOOST_FIXTURE_TEST_CASE(what_a_power_cut_left_is_removed_by_the_next_operation, WholeFixture) {
  std::filesystem::create_directory(folder / "whole-1-1");
  std::ofstream(folder / "whole-1-1" / "lock") << "";
  std::ofstream(folder / "whole-1-1" / "duckdb_temp_storage-0.tmp") << "spilled";
  auto sorted = headway::flow::run_whole(host, sort(), {falling(10, 10)}).ValueOrDie();
  BOOST_TEST(sorted->ToRecordBatches().ok());
  sorted.reset();
  BOOST_TEST(left_in_scratch().empty());
}

BOOST_FIXTURE_TEST_CASE(a_column_that_is_missing_is_named_with_those_that_there_are, WholeFixture) {
  auto spec = sort();
  spec.arguments = R"({"operation": "sort", "options": {"keys": ["y"], "descending": [false]}})";
  const auto failed = headway::flow::run_whole(host, spec, {falling(10, 10)});
  BOOST_TEST(failed.status().message() == "sort: there is no column 'y'; there are x");
}

BOOST_FIXTURE_TEST_CASE(an_input_that_fails_ends_the_operation_with_its_words, WholeFixture) {
  const auto good = falling(10, 10)->ToRecordBatches().ValueOrDie();
  const auto broken =
      arrow::RecordBatchReader::MakeFromIterator(
          arrow::MakeFunctionIterator([good, n = 0]() mutable -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
            if (n++ == 0) return good.front();
            return arrow::Status::IOError("a.parquet is damaged");
          }),
          good.front()->schema())
          .ValueOrDie();
  auto sorted = headway::flow::run_whole(host, sort(), {broken}).ValueOrDie();
  BOOST_TEST(sorted->ToRecordBatches().status().message() == "a.parquet is damaged");
}

BOOST_AUTO_TEST_SUITE_END()
