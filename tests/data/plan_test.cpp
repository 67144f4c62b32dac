#include "data/plan.hpp"

#include "data/plan_identity.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

namespace headway::data {

/// read → with_column → filter → function → limit.
constexpr const char* plan_text = R"([
  {"op": "read", "args": {"format": "parquet", "paths": ["/data/a", "/data/b"], "options": {"columns": ["a", "b"]}}},
  {"op": "project", "inputs": [0], "args": {"columns": [["c", {"call": "add", "args": [{"column": "a"}, {"literal": 5}]}]], "keep": true}},
  {"op": "filter", "inputs": [1], "args": {"where": {"call": "less", "args": [{"column": "c"}, {"literal": 9, "type": "int32"}]}}},
  {"op": "function", "inputs": [2], "args": {"kind": "map_batches", "blob": 0, "batch_size": 256, "name": "scale", "workers": [1, 2]}},
  {"op": "limit", "inputs": [3], "args": {"rows": 10}}])";

constexpr std::array<std::string_view, 2> plan_blobs = {"the bytes of scale", "other bytes"};

Plan plan_of(std::string_view text) { return plan_from_text(text, plan_blobs.size()).value(); }

PlanIdentity identity_of_text(std::string_view text) { return identity_of(plan_of(text), plan_blobs); }

std::string with(std::string text, std::string_view old_part, std::string_view new_part) {
  const std::size_t place = text.find(old_part);
  BOOST_REQUIRE_MESSAGE(place != std::string::npos, old_part);
  return text.replace(place, old_part.size(), new_part);
}

/// What differs after a change of the plan's text.
std::string difference_after(std::string_view old_part, std::string_view new_part) {
  return difference(identity_of_text(plan_text), identity_of_text(with(plan_text, old_part, new_part)));
}

std::string error_after(std::string_view old_part, std::string_view new_part) {
  const auto plan = plan_from_text(with(plan_text, old_part, new_part), plan_blobs.size());
  return plan ? "" : plan.error().message;
}

BOOST_AUTO_TEST_SUITE(plan_suite)

BOOST_AUTO_TEST_CASE(a_plan_is_the_same_after_json) {
  const Plan plan = plan_of(plan_text);
  BOOST_REQUIRE_EQUAL(plan.nodes.size(), 5);
  BOOST_TEST(columns_of(*plan.nodes[0].as<ReadNode>()).value().size() == 2U);
  const Expression sum = Expression::call("add", {Expression::column("a"), Expression::value(5)});
  BOOST_TEST((plan.nodes[1].as<ProjectNode>()->columns.at(0) == NamedExpression{"c", sum}));
  BOOST_TEST(plan.nodes[2].as<FilterNode>()->where.args[1].type == "int32");
  BOOST_TEST(plan.nodes[3].as<FunctionNode>()->batch_size.value() == 256);
  BOOST_TEST(plan.nodes[3].as<FunctionNode>()->seeded);
  const Plan again = plan_of(json_text(plan_to_json(plan)));
  BOOST_TEST(json_text(plan_to_json(again)) == json_text(plan_to_json(plan)));
  BOOST_TEST(to_string(plan.nodes[2]) == "filter less(c, 9)");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_plan_is_said_with_its_node_and_argument) {
  BOOST_TEST(error_after("\"rows\": 10", "\"rows\": -3") ==
             "node 4 of the plan (limit): rows is -3; allowed: 0 or more");
  BOOST_TEST(error_after("\"rows\": 10", "\"rows\": \"ten\"") ==
             "node 4 of the plan (limit): expected a whole number as \"rows\", found \"ten\"");
  BOOST_TEST(error_after("\"rows\": 10", "\"row\": 10") ==
             "node 4 of the plan (limit): there is no argument \"row\"; allowed: rows");
  BOOST_TEST(error_after("\"inputs\": [3]", "\"inputs\": [4]") ==
             "node 4 of the plan (limit): its input is node 4; allowed: earlier nodes");
  BOOST_TEST(error_after("\"inputs\": [3]", "\"inputs\": []") ==
             "node 4 of the plan (limit): it has 0 inputs; allowed: 1");
  BOOST_TEST(
      error_after("\"limit\"", "\"limits\"").starts_with("node 4 of the plan (limits): there is no such operation"));
  BOOST_TEST(
      error_after("\"blob\": 0", "\"blob\": 2") ==
      "node 3 of the plan (function): blob is 2; allowed: the index of one of the 2 blobs that came with the plan");
  BOOST_TEST(error_after("{\"column\": \"c\"}", "{\"colum\": \"c\"}").find("where.args[0]") != std::string::npos);
  BOOST_TEST(error_after("parquet", "parket").find("allowed: arrow, avro") != std::string::npos);
  const auto error_of_cut = [](const std::string& args) {
    return plan_from_text(
               R"([{"op": "range", "args": {"rows": 1}}, {"op": "repartition", "inputs": [0], "args": )" + args + "}]",
               0)
        .error()
        .message;
  };
  BOOST_TEST(error_of_cut(R"({"rows": 1, "at": {"column": "id", "values": [1], "descending": false}})") ==
             "node 1 of the plan (repartition): one of blocks, rows and at is given");
  BOOST_TEST(error_of_cut(R"({"at": {"column": "id", "values": [1, "a"], "descending": false}})") ==
             "node 1 of the plan (repartition): at.values is a list; allowed: numbers");
  BOOST_TEST(plan_from_text("[]", 0).error().message == "the plan has no node");
  BOOST_TEST((plan_from_text("{", 0).error().kind == ErrorKind::invalid_argument));
}

BOOST_AUTO_TEST_CASE(the_hash_is_that_of_what_makes_rows) {
  const std::string hash = plan_hash(identity_of_text(plan_text));
  BOOST_TEST(hash.starts_with("xxh3:"));
  BOOST_TEST(difference_after("\"workers\": [1, 2]", "\"workers\": [4, 4]").empty());
  BOOST_TEST(plan_hash(identity_of_text(with(plan_text, "\"workers\": [1, 2]", "\"num_gpus\": 1"))) == hash);
  BOOST_TEST(plan_hash(identity_of_text(with(plan_text, "\"workers\": [1, 2]", "\"num_cpus\": 2"))) == hash);
  // The order of nodes that do not depend on each other, and of keys, means nothing.
  BOOST_TEST(plan_hash(identity_of_text(R"([{"op": "range", "args": {"rows": 1}}, {"op": "range", "args": {"rows": 2}},
      {"op": "union", "inputs": [1, 0]}])")) ==
             plan_hash(identity_of_text(R"([{"args": {"rows": 2}, "op": "range"}, {"op": "range", "args": {"rows": 1}},
      {"op": "union", "inputs": [0, 1]}])")));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_named_after_its_content_may_lie_elsewhere) {
  const auto hash_of = [](const std::string& path) {
    return plan_hash(identity_of_text(R"([{"op": "read", "args": {"format": "arrow", "paths": [")" + path + "\"]}}]"));
  };
  const std::string name = "0123456789abcdef0123456789abcdef.arrow";
  BOOST_TEST(hash_of("/tmp/" + name) == hash_of("/scratch/" + name));
  BOOST_TEST(hash_of("/tmp/" + name) != hash_of("/tmp/1" + name.substr(1)));
  BOOST_TEST(hash_of("/tmp/rows.arrow") != hash_of("/scratch/rows.arrow"));
}

BOOST_AUTO_TEST_CASE(other_rows_of_the_program_are_said_without_the_names_of_their_files) {
  const auto identity = [](const std::string& path) {
    return identity_of_text(R"([{"op": "read", "args": {"format": "arrow", "paths": [")" + path + "\"]}}]");
  };
  const std::string name = "0123456789abcdef0123456789abcdef.arrow";
  BOOST_TEST(difference(identity("/tmp/" + name), identity("/tmp/f" + name.substr(1))) ==
             "read arrow: the rows from memory, or of materialize(), are others (rows that are drawn by chance need a "
             "seed)");
  BOOST_TEST(difference(identity("/tmp/" + name), identity("/tmp/b.arrow")) ==
             "read arrow: paths was [\"" + name + "\"], is [\"/tmp/b.arrow\"]");
}

BOOST_AUTO_TEST_CASE(files_of_a_python_filesystem_are_named_by_their_paths) {
  const auto text_of = [](int blob) {
    return R"([{"op": "read", "args": {"format": "text", "paths": ["python-01://a"], "blob": )" + std::to_string(blob) +
           "}}]";
  };
  BOOST_TEST(plan_hash(identity_of_text(text_of(0))) == plan_hash(identity_of_text(text_of(1))));
  BOOST_TEST(plan_from_text(text_of(2), 2).error().message ==
             "node 0 of the plan (read): blob is 2; allowed: the index of one of the 2 blobs that came with the plan");
}

BOOST_AUTO_TEST_CASE(a_function_is_what_it_does_and_not_how_it_is_pickled) {
  const auto hash_of = [](const std::string& blob) {
    const std::array<std::string_view, 2> blobs = {blob, "other bytes"};
    return plan_hash(identity_of(plan_of(plan_text), blobs));
  };
  const std::string digits = "0123456789abcdef0123456789abcdef";
  BOOST_TEST(hash_of("one pickle.headway-function:" + digits) == hash_of("another.headway-function:" + digits));
  BOOST_TEST(hash_of("one pickle.headway-function:" + digits) !=
             hash_of("one pickle.headway-function:" + digits + "0"));
  BOOST_TEST(hash_of("one pickle") != hash_of("another"));
}

BOOST_AUTO_TEST_CASE(a_changed_plan_is_said_in_words) {
  BOOST_TEST(difference_after("\"rows\": 10", "\"rows\": 20") == "limit: rows was 10, is 20");
  BOOST_TEST(difference_after("\"blob\": 0", "\"blob\": 1") == "function scale: its function is another one");
  BOOST_TEST(difference_after("\"blob\": 0", "\"blob\": 1, \"digest\": \"v1\"") ==
             "function scale: its function is another one");
  BOOST_TEST(difference_after(R"({"op": "limit", "inputs": [3], "args": {"rows": 10}})",
                              R"({"op": "sample", "inputs": [3], "args": {"fraction": 0.5}},
                                 {"op": "limit", "inputs": [4], "args": {"rows": 10}})") == "sample is new");
  BOOST_TEST(difference_after(R"({"op": "limit", "inputs": [3], "args": {"rows": 10}})",
                              R"({"op": "shuffle", "inputs": [3]})") == "limit is gone; shuffle is new");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
