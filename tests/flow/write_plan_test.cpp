#include "flow/write_plan.hpp"

#include "flow/sources/files_on_disk.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

PlanInput plan_of(const std::string& text) {
  const Json json = parse_json(text, "a plan").value();
  Result<PlanInput> plan = read_plan(json, {}, 0, nullptr);
  if (!plan) BOOST_FAIL(plan.error().message);
  return std::move(*plan);
}

/// Rows whose `id` is even, written.
PlanInput even_rows_to(const std::string& folder, const std::string& mode) {
  return plan_of(R"([{"op": "range", "inputs": [], "args": {"rows": 1000}},
    {"op": "filter", "inputs": [0], "args": {"where": {"call": "equal", "args": [
      {"call": "modulo", "args": [{"column": "id"}, {"literal": 2}]}, {"literal": 0}]}}},
    {"op": "limit", "inputs": [1], "args": {"rows": 300}},
    {"op": "write", "inputs": [2], "args": {"format": "csv", "path": ")" +
                 folder + R"(", "mode": ")" + mode + "\"}}]");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_plan_that_writes)

BOOST_AUTO_TEST_CASE(answers_with_its_files_and_rows) {
  const FilesOnDisk disk;
  Engine engine{feed::Hello{}};
  Errand errand;
  const wire::Frame frame = write_plan(engine, even_rows_to(disk.path("out"), "create"), errand);
  const std::string text = frame.json;
  BOOST_TEST(contains(text, "\"rows\":300"), text);
  const auto table = must(rows_of(read_node("csv", {disk.path("out")})));
  BOOST_TEST(table->num_rows() == 300);
  BOOST_TEST(must(column_of(*table, "id")->GetScalar(299))->ToString() == "598");
  const std::string again = write_plan(engine, even_rows_to(disk.path("out"), "create"), errand).json;
  BOOST_TEST(contains(again, "already_exists"), again);
  const std::string ignored = write_plan(engine, even_rows_to(disk.path("out"), "ignore"), errand).json;
  BOOST_TEST(contains(ignored, "\"files\":[]"), ignored);
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_when_nobody_wants_it_any_more) {
  const FilesOnDisk disk;
  Engine engine{feed::Hello{}};
  Errand errand;
  errand.stop();
  const wire::Frame frame = write_plan(engine, even_rows_to(disk.path("out"), "create"), errand);
  BOOST_TEST(contains(frame.json, "aborted"), frame.json);
  BOOST_TEST(!std::filesystem::exists(disk.path("out")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
