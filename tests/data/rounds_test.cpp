#include "data/rounds.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::data {

/// The rows of each rank in each round.
std::vector<std::vector<std::int64_t>> dealt(const Shares& shares, std::int64_t total, std::int64_t first_row = 0) {
  Rounds rounds(shares, first_row);
  rounds.set_total(total);
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t number = 0; !rounds.is_past_end(number); ++number) {
    all.emplace_back();
    for (int rank = 0; rank < shares.world_size; ++rank) all.back().push_back(rounds.batch(number, rank).rows);
  }
  return all;
}

using Dealt = std::vector<std::vector<std::int64_t>>;

BOOST_AUTO_TEST_SUITE(rounds_suite)

BOOST_AUTO_TEST_CASE(the_rest_is_one_short_batch_for_each_rank) {
  const Shares three{.world_size = 3, .batch_rows = 4};
  BOOST_TEST((dealt(three, 31) == Dealt{{4, 4, 4}, {4, 4, 4}, {2, 2, 2}}));
  BOOST_TEST((dealt(three, 26) == Dealt{{4, 4, 4}, {4, 4, 4}}));
  BOOST_TEST((dealt(three, 2) == Dealt{}));
  BOOST_TEST((dealt(three, 31, 24) == Dealt{{2, 2, 2}}));
  BOOST_TEST((dealt(three, 31, 31) == Dealt{}));
  Rounds rounds(three, 0);
  rounds.set_total(31);
  BOOST_TEST(rounds.dropped() == 1);
  BOOST_TEST(rounds.end_row(1) == 24);
  BOOST_TEST(rounds.end_row(2) == 31);
}

BOOST_AUTO_TEST_CASE(drop_last_drops_the_short_batches) {
  BOOST_TEST((dealt({.world_size = 3, .batch_rows = 4, .drop_last = true}, 31) == Dealt{{4, 4, 4}, {4, 4, 4}}));
  BOOST_TEST((dealt({.world_size = 3, .batch_rows = 4, .drop_last = true, .equal = false}, 31) ==
              Dealt{{4, 4, 4}, {4, 4, 4}, {4, 0, 0}}));
}

BOOST_AUTO_TEST_CASE(shares_that_need_not_be_equal_have_every_row) {
  const Shares unequal{.world_size = 3, .batch_rows = 4, .equal = false};
  BOOST_TEST((dealt(unequal, 31) == Dealt{{4, 4, 4}, {4, 4, 4}, {4, 3, 0}}));
  BOOST_TEST((dealt(unequal, 2) == Dealt{{2, 0, 0}}));
}

BOOST_AUTO_TEST_CASE(a_round_is_dealt_as_soon_as_its_rows_are_certain) {
  Rounds rounds({.world_size = 2, .batch_rows = 5, .rows_max = 28}, 0);
  BOOST_TEST(!rounds.is_decided(0));
  rounds.set_known(19);
  BOOST_TEST(rounds.is_decided(0));
  BOOST_TEST(!rounds.is_decided(1));
  BOOST_TEST(!rounds.is_past_end(1));
  rounds.set_known(40);
  BOOST_TEST(rounds.knows_total());
  BOOST_TEST(rounds.count() == 3);
  BOOST_TEST(rounds.batch(2, 1).begin == 4);
  BOOST_TEST(rounds.batch(2, 1).rows == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
