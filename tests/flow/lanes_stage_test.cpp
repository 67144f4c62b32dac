#include "flow/lanes_stage.hpp"

#include "data/dealer.hpp"
#include "flow/plan_builder.hpp"

#include <arrow/array.h>
#include <arrow/extension_type.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <numeric>

namespace headway::flow {
namespace {

constexpr std::int64_t rows_of_plan = 473;
constexpr std::int64_t rows_of_unit = 16;
using Numbers = std::vector<std::int64_t>;

/// Tensors that have the row's number everywhere, so that units have few rows.
PlanInput plan_with(const std::string& nodes) {
  const std::string text =
      R"([{"op": "range", "inputs": [], "args": {"rows": 473, "tensor_shape": [8192]}})" + nodes + "]";
  return read_plan(parse_json(text, "a plan").value(), {}, 0, nullptr).value();
}

const std::string shuffled = R"(, {"op": "shuffle", "inputs": [0],
    "args": {"kind": "windows", "window_bytes": 4194304, "seed": 3}})";

struct Machine {
  explicit Machine(const std::string& nodes) : input(plan_with(nodes)) {}

  /// All rows that its stage gives.
  Numbers rows(const data::Shares& shares, std::int64_t rows_before, int lanes) {
    EpochConfig config;
    config.lanes = lanes;
    config.shares = shares;
    config.rows_before = rows_before;
    built = PlanBuilder(engine, input, config, gauges).build().ValueOrDie();
    BOOST_TEST_REQUIRE(built.lanes == lanes);
    Numbers numbers;
    while (auto chunk = built.stage->next().ValueOrDie()) {
      const auto& tensors = static_cast<const arrow::ExtensionArray&>(*chunk->rows->column(0));
      const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*tensors.storage());
      const auto& values = static_cast<const arrow::Int64Array&>(*lists.values());
      for (std::int64_t i = 0; i < lists.length(); ++i) numbers.push_back(values.Value(lists.value_offset(i)));
    }
    return numbers;
  }

  std::int64_t rows_read() const { return gauges->read().stages.front().rows; }

  Engine engine{feed::Hello{}};
  PlanInput input;
  std::shared_ptr<FlowGauges> gauges = std::make_shared<FlowGauges>(engine.budget());
  BuiltPlan built;
};

/// The rows of a window, in the order in which they come.
Numbers rows_of_window(const data::EpochOrder& order, std::uint32_t window) {
  Numbers numbers;
  for (const data::UnitPart& part : order.parts_of(window)) {
    for (std::int64_t row = part.begin; row < part.end; ++row) numbers.push_back(part.unit * rows_of_unit + row);
  }
  std::vector<std::uint32_t> permutation;
  order.row_order(window, static_cast<std::int64_t>(numbers.size()), permutation);
  Numbers permuted;
  for (const std::uint32_t number : permutation) permuted.push_back(numbers[number]);
  return permuted;
}

/// What the dealer that is simulated deals to the same ranks.
Numbers dealt(const data::EpochOrder& order, const data::Shares& shares, std::int64_t rows_before) {
  data::Dealer dealer(order, shares, {rows_before, 0, 0, 0});
  while (const auto unit = dealer.next_unit()) {
    BOOST_TEST_REQUIRE(dealer.unit_done(unit->part, unit->rows.end - unit->rows.begin).has_value());
  }
  Numbers numbers;
  data::DealtBatch batch;
  for (bool more = true; more;) {
    more = false;
    for (const int rank : shares.ranks) {
      if (dealer.next(rank, batch) != data::Dealer::Next::batch) continue;
      more = true;
      for (const data::Piece& piece : batch.pieces) {
        const Numbers rows = rows_of_window(order, piece.window);
        numbers.insert(numbers.end(), rows.begin() + piece.first, rows.begin() + piece.first + piece.rows);
      }
    }
  }
  return numbers;
}

data::Shares shares_of_ranks(int world_size, std::vector<int> ranks, std::int64_t batch_rows) {
  data::Shares shares;
  shares.world_size = world_size;
  shares.batch_rows = batch_rows;
  shares.ranks = std::move(ranks);
  return shares;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lanes)

BOOST_AUTO_TEST_CASE(machines_get_what_the_simulated_dealer_deals_to_their_ranks) {
  struct Case {
    int lanes;
    int world_size;
    std::vector<std::vector<int>> machines;
    std::int64_t batch_rows;
    std::int64_t rows_before;
  };
  const std::vector<Case> cases{
      {2, 2, {{0}, {1}}, 10, 0},             // Each reads one lane,
      {2, 3, {{0, 1}, {2}}, 7, 0},           // or parts of both,
      {6, 3, {{0}, {1}, {2}}, 8, 0},         // or two.
      {2, 1, {{0}}, 20, 140},                // Resumed on one machine,
      {2, 4, {{0, 1}, {2, 3}}, 5, 93},       // or by more ranks.
      {4, 2, {{0}, {1}}, 10, rows_of_plan},  // Nothing is left.
  };
  for (const std::string& nodes : {std::string(), shuffled}) {
    for (const Case& each : cases) {
      Numbers all;
      for (const std::vector<int>& ranks : each.machines) {
        const data::Shares shares = shares_of_ranks(each.world_size, ranks, each.batch_rows);
        Machine machine(nodes);
        const Numbers got = machine.rows(shares, each.rows_before, each.lanes);
        const Numbers expected = dealt(*machine.built.order, shares, each.rows_before);
        BOOST_TEST(got == expected, boost::test_tools::per_element());
        all.insert(all.end(), got.begin(), got.end());
      }
      std::sort(all.begin(), all.end());
      BOOST_TEST((std::adjacent_find(all.begin(), all.end()) == all.end()), "no row comes twice");
      const std::int64_t left = rows_of_plan - each.rows_before;
      BOOST_TEST(static_cast<std::int64_t>(all.size()) == left / each.world_size * each.world_size);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_machine_reads_its_own_lanes_and_little_of_others) {
  for (const std::string& nodes : {std::string(), shuffled}) {
    for (const int rank : {0, 1}) {
      Machine machine(nodes);
      machine.rows(shares_of_ranks(2, {rank}, 10), 0, 2);
      // Half of the rows, the unit that both lanes have a part of, and at the end, where a short
      // batch begins within the other lane, a window of that.
      const std::int64_t window = nodes.empty() ? rows_of_unit : 4 * rows_of_unit;
      BOOST_TEST(machine.rows_read() <= rows_of_plan / 2 + rows_of_unit + 1 + window);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_limit_at_the_end_is_of_the_rows_of_all_lanes) {
  const std::string limit = R"(, {"op": "limit", "inputs": [0], "args": {"rows": 100}})";
  Numbers all;
  for (const int rank : {0, 1}) {
    Machine machine(limit);
    const Numbers got = machine.rows(shares_of_ranks(2, {rank}, 8), 0, 2);
    all.insert(all.end(), got.begin(), got.end());
  }
  BOOST_TEST(all.size() == 100U);
  // The first rows of each lane.
  BOOST_TEST(std::ranges::count_if(all, [](std::int64_t row) { return row < rows_of_plan / 2 + 1; }) == 50);
}

BOOST_AUTO_TEST_CASE(plans_that_give_other_rows_than_an_order_says_have_one_lane) {
  const std::string exact = R"(, {"op": "shuffle", "inputs": [0], "args": {"kind": "exact", "seed": 3}})";
  const std::string sampled = R"(, {"op": "sample", "inputs": [0], "args": {"fraction": 0.5, "seed": 1}})";
  for (const std::string& nodes : {exact, sampled}) {
    Engine engine{feed::Hello{}};
    const PlanInput input = plan_with(nodes);
    EpochConfig config;
    config.lanes = 2;
    config.shares = shares_of_ranks(2, {0}, 10);
    BOOST_TEST(PlanBuilder(engine, input, config).build().ValueOrDie().lanes == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
