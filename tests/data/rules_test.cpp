#include "data/rules.hpp"

#include "data/interpreter.hpp"
#include "sim/random.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace headway::data {
namespace {

using ::headway::sim::Random;

/// Plans of a few nodes over files with the columns a to d; what is asked for always exists.
class RandomPlan {
 public:
  explicit RandomPlan(Random& random) : random_(random) {
    add_read();
    for (int nodes = random_.below(14); nodes > 0; --nodes) add();
  }
  Plan plan;

 private:
  Expression column() { return Expression::column(random_.one_of(columns_)); }
  Expression expression() {
    if (random_.one_in(8)) return Expression::call("random", {});
    if (random_.one_in(3)) return column();
    return Expression::call("add", {column(), Expression::value(random_.below(5))});
  }
  Expression condition() {
    if (random_.one_in(6)) return Expression::call("is_null", {column()});
    return Expression::call("less", {expression(), Expression::value(random_.below(12))});
  }
  void push(Operation operation) { plan.nodes.push_back({std::move(operation), {plan.nodes.size() - 1}}); }
  void add_read() {
    columns_ = {"a", "b", "c", "d"};
    ReadNode read{"parquet", {"file"}, {}, {}, {}};
    if (random_.one_in(4)) set_columns(read, columns_ = {"d", "b", "a"});
    plan.nodes.push_back({std::move(read), {}});
  }
  /// Of all rows with another half of them.
  void add_union() {
    const std::size_t first = plan.nodes.size() - 1;
    push(FilterNode{condition()});
    plan.nodes.push_back({UnionNode{}, {first, first + 1}});
  }
  void add_project() {
    ProjectNode project;
    project.keep = random_.one_in(2);
    std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
    for (int made = 1 + random_.below(3); made > 0; --made) {
      const std::string name = random_.one_of(names);
      std::erase(names, name);
      project.columns.push_back({name, expression()});
    }
    if (!project.keep) columns_.clear();
    for (const NamedExpression& each : project.columns) {
      if (std::ranges::find(columns_, each.name) == columns_.end()) columns_.push_back(each.name);
    }
    push(std::move(project));
  }
  void add_function() {
    FunctionNode function;
    function.blob = random_.below(4);
    function.kind = std::vector{FunctionKind::map, FunctionKind::map_batches, FunctionKind::flat_map,
                                FunctionKind::filter}[static_cast<std::size_t>(function.blob)];
    function.changes_rows = function.blob >= 2;
    if (function.blob == 1 && random_.one_in(2)) function.batch_size = 1 + random_.below(3);
    if (random_.one_in(3)) function.workers = {{1, 1}};
    push(std::move(function));
  }
  void add() {
    switch (random_.below(9)) {
      case 0: return push(LimitNode{random_.below(30)});
      case 1: return push(SampleNode{0.7, 3});
      case 2: return push(ShuffleNode{ShuffleKind::exact, 4, true, {}});
      case 3: return add_union();
      case 4:
      case 5: return push(FilterNode{condition()});
      case 6: return add_function();
      case 7:
        if (columns_.size() > 2) {
          const std::string gone = random_.one_of(columns_);
          std::erase(columns_, gone);
          return push(DropNode{{gone}});
        }
        [[fallthrough]];
      default: return add_project();
    }
  }

  Random& random_;
  std::vector<std::string> columns_;
};

Table random_file(Random& random) {
  Table file{{"a", "b", "c", "d"}, {}};
  for (int units = random.below(4); units >= 0; --units) {
    std::vector<Table::Row>& unit = file.units.emplace_back();
    for (int rows = random.below(12); rows > 0; --rows) {
      Table::Row& row = unit.emplace_back();
      for (int place = 0; place < 4; ++place) row.push_back(random.one_in(7) ? Table::Value() : random.below(15));
    }
  }
  return file;
}

/// Random plans give the same rows with these rules. How many plans they changed.
int plans_changed_by(const Rules& rules) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const std::map<std::string, Table> files = {{"file", random_file(random)}};
    const Plan plan = RandomPlan(random).plan;
    const Plan other = optimised(plan, rules);
    BOOST_REQUIRE(check_plan(other, 4).has_value());
    const Table expected = interpret(plan, files);
    const Table found = interpret(other, files);
    if (expected.columns != found.columns || expected.rows() != found.rows()) {
      BOOST_ERROR("seed " << seed << ":\n"
                          << json_text(plan_to_json(plan)) << "\nbecame\n"
                          << json_text(plan_to_json(other)));
    }
    changed += json_text(plan_to_json(other)) != json_text(plan_to_json(in_order(plan))) ? 1 : 0;
  }
  return changed;
}

constexpr Rules no_rules{false, false, false, false, false};

/// The operations of an optimised plan, in order.
std::string operations_of(std::string_view text) {
  std::string names;
  for (const Node& node : optimised(plan_from_text(text, 9).value(), {.fuse_functions = true}).nodes) {
    names += (names.empty() ? "" : ", ") + to_string(node);
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rules_suite)

BOOST_AUTO_TEST_CASE(narrowed_reads_give_the_same_rows) {
  Rules rules = no_rules;
  rules.narrow_reads = true;
  BOOST_TEST(plans_changed_by(rules) > 50);
}

BOOST_AUTO_TEST_CASE(lowered_filters_give_the_same_rows) {
  Rules rules = no_rules;
  rules.lower_filters = true;
  BOOST_TEST(plans_changed_by(rules) > 50);
}

BOOST_AUTO_TEST_CASE(lowered_limits_give_the_same_rows) {
  Rules rules = no_rules;
  rules.lower_limits = true;
  BOOST_TEST(plans_changed_by(rules) > 50);
}

BOOST_AUTO_TEST_CASE(fused_projects_give_the_same_rows) {
  Rules rules = no_rules;
  rules.fuse_projects = true;
  BOOST_TEST(plans_changed_by(rules) > 50);
}

BOOST_AUTO_TEST_CASE(fused_functions_give_the_same_rows) {
  Rules rules = no_rules;
  rules.fuse_functions = true;
  BOOST_TEST(plans_changed_by(rules) > 20);
}

BOOST_AUTO_TEST_CASE(all_rules_together_give_the_same_rows) {
  BOOST_TEST(plans_changed_by({.fuse_functions = true}) > 600);
}

BOOST_AUTO_TEST_CASE(a_filter_sinks_to_its_read_and_a_limit_below_columns) {
  BOOST_TEST(operations_of(R"([{"op": "read", "args": {"format": "csv", "paths": ["x"]}},
      {"op": "project", "inputs": [0], "args": {"columns": [["c", {"call": "add", "args": [{"column": "a"}, {"literal": 1}]}]], "keep": true}},
      {"op": "filter", "inputs": [1], "args": {"where": {"call": "less", "args": [{"column": "c"}, {"literal": 9}]}}},
      {"op": "project", "inputs": [2], "args": {"columns": [["d", {"column": "c"}]]}},
      {"op": "limit", "inputs": [3], "args": {"rows": 5}}])") ==
             "read csv, x, filter less(add(a, 1), 9), limit 5, project d");
}

BOOST_AUTO_TEST_CASE(a_filter_never_passes_a_limit_a_shuffle_a_sample_or_a_function) {
  for (const char* node : {R"("limit", "args": {"rows": 5})", R"("shuffle")", R"("sample", "args": {"fraction": 0.5})",
                           R"("function", "args": {"kind": "map", "blob": 0})"}) {
    const std::string text = std::string(R"([{"op": "range", "args": {"rows": 9}}, {"inputs": [0], "op": )") + node +
                             R"(}, {"op": "filter", "inputs": [1], "args": {"where": {"column": "id"}}}])";
    BOOST_TEST(operations_of(text).ends_with("filter id"));
  }
}

BOOST_AUTO_TEST_CASE(functions_of_the_same_batches_are_one) {
  const auto both = [](std::string_view first, std::string_view second) {
    return operations_of(R"([{"op": "range", "args": {"rows": 9}},
      {"op": "function", "inputs": [0], "args": {"name": "f", "blob": 0, )" +
                         std::string(first) + R"(}},
      {"op": "function", "inputs": [1], "args": {"name": "g", "blob": 1, )" +
                         std::string(second) + "}}]");
  };
  BOOST_TEST(both(R"("batch_size": 4, "changes_rows": false)", R"("batch_size": 4)") ==
             "range, function f, g (map_batches)");
  BOOST_TEST(both(R"("batch_size": 4)", R"("kind": "map")") == "range, function f, g (map_batches)");
  BOOST_TEST(both(R"("batch_size": 4)", R"("batch_size": 4)").ends_with("function g (map_batches)"));
  BOOST_TEST(both(R"("kind": "map")", R"("kind": "map", "workers": [1, 1])").ends_with("function g (map)"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
