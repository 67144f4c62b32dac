#include "data/philox.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace headway::data {

using Block = std::array<std::uint32_t, 4>;

BOOST_AUTO_TEST_SUITE(philox_suite)

/// The known answers that come with the authors' library, Random123.
BOOST_AUTO_TEST_CASE(the_numbers_are_those_of_the_paper) {
  BOOST_TEST((philox({0, 0, 0, 0}, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  BOOST_TEST(
      (philox({ones, ones, ones, ones}, ~std::uint64_t{0}) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  BOOST_TEST((philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
              Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

BOOST_AUTO_TEST_CASE(streams_of_another_seed_epoch_purpose_number_or_lane_are_different) {
  std::set<std::uint32_t> first_numbers;
  for (auto stream : {RandomStream(1, 0, Purpose::rows, 0), RandomStream(2, 0, Purpose::rows, 0),
                      RandomStream(1, 1, Purpose::rows, 0), RandomStream(1, 0, Purpose::units, 0),
                      RandomStream(1, 0, Purpose::rows, 1), RandomStream(1, 0, Purpose::rows, 0, 1)}) {
    first_numbers.insert(stream.next());
  }
  BOOST_TEST(first_numbers.size() == 6U);
}

BOOST_AUTO_TEST_CASE(each_order_of_four_values_comes_as_often_as_another) {
  constexpr int orders = 24;
  constexpr int times = 1000;
  std::map<std::vector<std::uint32_t>, int> counts;
  RandomStream stream(7, 0, Purpose::units, 0);
  for (int i = 0; i < orders * times; ++i) {
    std::vector<std::uint32_t> values = {0, 1, 2, 3};
    shuffle(values, stream);
    ++counts[values];
  }
  BOOST_TEST(counts.size() == static_cast<std::size_t>(orders));
  // Six standard deviations: sqrt(1000) is about 32.
  for (const auto& [order, count] : counts) BOOST_TEST(std::abs(count - times) < 6 * 32);
}

BOOST_AUTO_TEST_CASE(a_sample_keeps_its_share_and_the_same_rows_each_time) {
  RowSample sample(0.25, 3, 5);
  RowSample again(0.25, 3, 5);
  int kept = 0;
  bool same = true;
  for (int row = 0; row < 100'000; ++row) {
    const bool keeps = sample.keeps_next();
    same = same && keeps == again.keeps_next();
    kept += keeps ? 1 : 0;
  }
  BOOST_TEST(same);
  BOOST_TEST(std::abs(kept - 25'000) < 1'000);
  BOOST_TEST(RowSample(1, 3, 5).keeps_next());
  BOOST_TEST(!RowSample(0, 3, 5).keeps_next());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
