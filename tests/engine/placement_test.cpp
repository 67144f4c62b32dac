#include "engine/placement.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

/// Which node each worker goes to.
namespace headway::engine {

namespace {

using Counts = std::vector<int>;

/// The same worker by worker: each goes where it does least harm.
std::optional<Counts> one_by_one(const std::vector<Capacity>& capacities, int workers, Placement placement) {
  Counts placed(capacities.size(), 0);
  for (int worker = 0; worker < workers; ++worker) {
    std::optional<std::size_t> best;
    const auto rank = [&](std::size_t node) {
      const double load = static_cast<double>(placed[node]) / std::max(capacities[node].cpus, 1);
      if (placement == Placement::spread) return std::pair<bool, double>(false, placed[node]);
      return placed[node] < capacities[node].cpus ? std::pair(false, 0.0) : std::pair(true, load);
    };
    for (std::size_t node = 0; node < capacities.size(); ++node) {
      if (placed[node] < capacities[node].hard && (!best || rank(node) < rank(*best))) best = node;
    }
    if (!best) return std::nullopt;
    ++placed[*best];
  }
  return placed;
}

Counts placed(const std::vector<Capacity>& capacities, int workers, Placement placement) {
  return place(capacities, workers, placement).value_or(Counts());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(placement_suite)

BOOST_AUTO_TEST_CASE(packed_workers_fill_a_node_before_they_take_the_next) {
  const std::vector<Capacity> capacities{{9, 4}, {9, 4}, {9, 4}};
  BOOST_TEST(placed(capacities, 3, Placement::pack) == (Counts{3, 0, 0}));
  BOOST_TEST(placed(capacities, 6, Placement::pack) == (Counts{4, 2, 0}));
}

BOOST_AUTO_TEST_CASE(cpus_are_shared_when_all_are_taken_and_then_evenly) {
  BOOST_TEST(placed({{99, 2}, {99, 4}}, 9, Placement::pack) == (Counts{3, 6}));
  BOOST_TEST(placed({{99, 0}, {99, 4}}, 3, Placement::pack) == (Counts{0, 3}));
}

BOOST_AUTO_TEST_CASE(workers_go_where_they_would_go_one_by_one) {
  std::mt19937 chance(7);
  const auto below = [&](int limit) { return static_cast<int>(chance() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Capacity> capacities(static_cast<std::size_t>(1 + below(5)));
    for (Capacity& capacity : capacities) capacity = {below(3) == 0 ? 1000 : below(12), below(9)};
    const int workers = below(60);
    for (const Placement placement : {Placement::pack, Placement::spread}) {
      const bool same = place(capacities, workers, placement) == one_by_one(capacities, workers, placement);
      BOOST_TEST(same, "round " << round << ", " << to_text(placement));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_billion_workers_are_counted_and_not_placed_one_by_one) {
  constexpr int many = 1'000'000'000;
  const std::vector<Capacity> capacities{{many, 4}, {many, 8}, {5, 4}};
  BOOST_TEST(placed(capacities, many, Placement::spread) == (Counts{499999998, 499999997, 5}));
  BOOST_TEST(placed(capacities, many, Placement::pack) == (Counts{333333332, 666666663, 5}));
  BOOST_TEST(placed(capacities, many, Placement::strict_pack) == (Counts{0, many, 0}));
  BOOST_TEST(!place(capacities, many, Placement::strict_spread).has_value());
  BOOST_TEST(most({{many, 4}, {many, 4}, {many, 4}}, Placement::pack) == std::numeric_limits<int>::max());
}

BOOST_AUTO_TEST_CASE(thousands_of_workers_with_nodes_of_their_own_are_placed_at_once) {
  // The first half fills the nodes of the second half, and has to make way.
  constexpr std::size_t half = 2000;
  std::vector<std::vector<bool>> allowed(half, {true, true});
  allowed.resize(2 * half, {true, false});
  const auto nodes = assign({{2000, 2000}, {2000, 2000}}, allowed, Placement::pack);
  BOOST_REQUIRE(nodes.has_value());
  for (std::size_t worker = 0; worker < 2 * half; ++worker) BOOST_TEST((*nodes)[worker] == (worker < half ? 1 : 0));
  allowed.push_back({true, false});
  BOOST_TEST(!assign({{2000, 2000}, {9000, 2000}}, allowed, Placement::pack).has_value());
}

BOOST_AUTO_TEST_CASE(workers_with_nodes_of_their_own_make_way_for_each_other) {
  const auto assigned = [](const std::vector<Capacity>& capacities, const std::vector<std::vector<bool>>& allowed,
                           Placement placement = Placement::pack) {
    return assign(capacities, allowed, placement).value_or(Counts());
  };
  const std::vector<Capacity> capacities{{1, 1}, {1, 1}, {1, 1}};
  BOOST_TEST(assigned(capacities, {{true, true, true}, {true, false, false}}) == (Counts{1, 0}));
  // The third one's place is taken by the first, which can only go where the second is.
  BOOST_TEST(assigned(capacities, {{true, true, false}, {false, true, true}, {true, false, false}}) ==
             (Counts{1, 2, 0}));
  BOOST_TEST(assigned(capacities, {{true, false, false}, {true, false, false}}) == Counts());
  const std::vector<Capacity> large{{9, 4}, {9, 4}};
  BOOST_TEST(assigned(large, {{true, true}, {false, true}, {true, true}}) == (Counts{0, 1, 0}));
  BOOST_TEST(assigned(large, {{true, true}, {false, true}}, Placement::strict_pack) == (Counts{1, 1}));
  BOOST_TEST(assigned(large, {{true, false}, {false, true}}, Placement::strict_pack) == Counts());
  BOOST_TEST(assigned(large, {{true, true}, {true, false}}, Placement::strict_spread) == (Counts{1, 0}));
  BOOST_TEST(assigned(large, {{true, true}, {true, true}, {true, true}}, Placement::strict_spread) == Counts());
}

BOOST_AUTO_TEST_CASE(what_is_claimed_is_never_exceeded) {
  BOOST_TEST(placed({{1, 4}, {2, 4}}, 3, Placement::pack) == (Counts{1, 2}));
  BOOST_TEST(!place({{1, 4}, {2, 4}}, 4, Placement::pack).has_value());
  BOOST_TEST(!place({}, 1, Placement::pack).has_value());
}

BOOST_AUTO_TEST_CASE(spread_workers_take_nodes_in_turn_as_far_as_there_is_capacity) {
  BOOST_TEST(placed({{9, 4}, {9, 4}}, 4, Placement::spread) == (Counts{2, 2}));
  BOOST_TEST(placed({{1, 4}, {9, 4}}, 4, Placement::spread) == (Counts{1, 3}));
}

BOOST_AUTO_TEST_CASE(strict_placements_are_kept_or_refused) {
  BOOST_TEST(placed({{2, 4}, {5, 4}, {5, 8}}, 4, Placement::strict_pack) == (Counts{0, 4, 0}));
  BOOST_TEST(placed({{9, 1}, {9, 2}}, 3, Placement::strict_pack) == (Counts{0, 3}));
  BOOST_TEST(!place({{2, 4}, {3, 4}}, 4, Placement::strict_pack).has_value());
  BOOST_TEST(placed({{9, 4}, {0, 4}, {9, 4}}, 2, Placement::strict_spread) == (Counts{1, 0, 1}));
  BOOST_TEST(!place({{9, 4}, {9, 4}}, 3, Placement::strict_spread).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
