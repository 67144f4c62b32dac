#include "core/rank_words.hpp"

#include <boost/test/unit_test.hpp>

namespace headway {

BOOST_AUTO_TEST_SUITE(rank_words)

BOOST_AUTO_TEST_CASE(three_ranks_in_a_row_are_a_range) {
  BOOST_TEST(rank_list({3}) == "rank 3");
  BOOST_TEST(rank_list({0, 1}) == "ranks 0, 1");
  BOOST_TEST(rank_list({1, 2, 3}) == "ranks 1 to 3");
  BOOST_TEST(rank_list({0, 2, 3, 4, 5, 7, 8}) == "ranks 0, 2 to 5, 7, 8");
  BOOST_TEST(ranks_have({4}) == "rank 4 has");
  BOOST_TEST(ranks_have({4, 6}) == "ranks 4, 6 have");
}

BOOST_AUTO_TEST_CASE(of_a_long_list_the_rest_is_counted) {
  std::vector<int> ranks;
  for (int rank = 0; rank < 20; ++rank) ranks.push_back(2 * rank);
  ranks.push_back(39);
  BOOST_TEST(rank_list(ranks) == "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 13 more");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
