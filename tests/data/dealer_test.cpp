#include "data/dealer.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::data {

using Next = Dealer::Next;

/// Three units of 10, 4 and 8 rows, in order; rows are known, or only as units are done.
std::vector<UnitSize> three_units(bool known) {
  return {{known ? 10 : -1, 80}, {known ? 4 : -1, 32}, {known ? 8 : -1, 64}};
}
constexpr std::int64_t three_rows[] = {10, 4, 8};

/// Starts all units and finishes them in order.
void finish_all(Dealer& dealer) {
  while (const auto task = dealer.next_unit()) {
    BOOST_REQUIRE(dealer.unit_done(task->part, three_rows[task->rows.unit]).has_value());
  }
}

std::string pieces_of(const DealtBatch& batch) {
  std::string text;
  for (const Piece& piece : batch.pieces) {
    text += (text.empty() ? "" : " ") + std::to_string(piece.window) + ":" + std::to_string(piece.first) + "+" +
            std::to_string(piece.rows);
  }
  return text;
}

BOOST_AUTO_TEST_SUITE(dealer_suite)

BOOST_AUTO_TEST_CASE(batches_cross_units_and_ranks_get_consecutive_rows_of_a_round) {
  for (const bool known : {true, false}) {
    const EpochOrder order({}, three_units(known));
    Dealer dealer(order, {.world_size = 2, .batch_rows = 6, .ranks = {0, 1}}, {});
    DealtBatch batch;
    BOOST_TEST((dealer.next(0, batch) == Next::wait));
    BOOST_TEST(dealer.rounds().has_value() == known);
    finish_all(dealer);
    BOOST_TEST((dealer.next(0, batch) == Next::batch));
    BOOST_TEST(pieces_of(batch) == "0:0+6");
    BOOST_TEST((dealer.next(1, batch) == Next::batch));
    BOOST_TEST(pieces_of(batch) == "0:6+4 1:0+2");
    BOOST_TEST(batch.after.rows_before == 12);
    BOOST_TEST(batch.after.window == 1U);
    BOOST_TEST(batch.after.row == 2);
    BOOST_TEST((dealer.next(1, batch) == Next::batch));
    BOOST_TEST(pieces_of(batch) == "2:3+5");
    BOOST_TEST(batch.after.rows_before == 22);
    BOOST_TEST(batch.after.batches == 2);
    BOOST_TEST((dealer.next(1, batch) == Next::end));
    BOOST_TEST((dealer.next(0, batch) == Next::batch));
    BOOST_TEST(pieces_of(batch) == "1:2+2 2:0+3");
    BOOST_TEST((dealer.next(0, batch) == Next::end));
    BOOST_TEST(dealer.rounds().value() == 2);
    BOOST_TEST(dealer.dropped() == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_waits_only_for_the_units_that_it_needs) {
  const EpochOrder order({}, three_units(true));
  Dealer dealer(order, {.batch_rows = 5}, {});
  BOOST_TEST(dealer.next_unit()->rows.unit == 0U);
  BOOST_TEST(dealer.next_unit()->rows.unit == 1U);
  DealtBatch batch;
  BOOST_REQUIRE(dealer.unit_done(1, 4).has_value());
  BOOST_TEST((dealer.next(0, batch) == Next::wait));
  BOOST_TEST(dealer.unit_done(0, 10).value().value() == 0U);
  BOOST_TEST((dealer.next(0, batch) == Next::batch));
  BOOST_TEST((dealer.next(0, batch) == Next::batch));
  BOOST_TEST((dealer.next(0, batch) == Next::wait));
}

BOOST_AUTO_TEST_CASE(a_window_is_given_back_when_the_slowest_rank_has_passed_it) {
  const EpochOrder order({}, three_units(true));
  Dealer dealer(order, {.world_size = 2, .batch_rows = 5, .ranks = {0, 1}}, {});
  finish_all(dealer);
  DealtBatch batch;
  while (dealer.next(0, batch) == Next::batch) {
  }
  BOOST_TEST(!dealer.next_retired().has_value());
  BOOST_TEST((dealer.next(1, batch) == Next::batch));
  BOOST_TEST(dealer.next_retired().value() == 0U);
  BOOST_TEST(!dealer.next_retired().has_value());
  while (dealer.next(1, batch) == Next::batch) {
  }
  BOOST_TEST(dealer.next_retired().value() == 1U);
  BOOST_TEST(dealer.next_retired().value() == 2U);
  BOOST_TEST(!dealer.next_retired().has_value());
}

BOOST_AUTO_TEST_CASE(a_resumed_epoch_reads_no_unit_that_it_has_passed) {
  for (const bool known : {true, false}) {
    const EpochOrder order({}, three_units(known));
    Dealer dealer(order, {.batch_rows = 4}, {.rows_before = 12, .window = 1, .row = 2, .batches = 3});
    BOOST_TEST(dealer.next_unit()->rows.unit == 1U);
    BOOST_REQUIRE(dealer.unit_done(1, 4).has_value());
    finish_all(dealer);
    DealtBatch batch;
    BOOST_TEST((dealer.next(0, batch) == Next::batch));
    BOOST_TEST(pieces_of(batch) == "1:2+2 2:0+2");
    BOOST_TEST(batch.after.batches == 4);
  }
}

BOOST_AUTO_TEST_CASE(a_limit_ends_the_epoch_and_the_reading) {
  for (const bool known : {true, false}) {
    const EpochOrder order({}, three_units(known));
    Dealer dealer(order, {.batch_rows = 4, .rows_max = 9}, {});
    const auto task = dealer.next_unit();
    BOOST_REQUIRE(dealer.unit_done(task->part, 10).has_value());
    BOOST_TEST(!dealer.next_unit().has_value());
    DealtBatch batch;
    std::int64_t rows = 0;
    while (dealer.next(0, batch) == Next::batch) rows += batch.rows;
    BOOST_TEST(rows == 9);
  }
}

BOOST_AUTO_TEST_CASE(a_machine_reads_its_own_lanes_only) {
  const std::vector<UnitSize> units(8, UnitSize{10, 100});
  const EpochOrder order({.lanes = 2}, units);
  Dealer dealer(order, {.world_size = 4, .batch_rows = 5, .ranks = {2, 3}}, {});
  std::vector<std::uint32_t> read;
  while (const auto task = dealer.next_unit()) read.push_back(task->rows.unit);
  BOOST_TEST(read == (std::vector<std::uint32_t>{4, 5, 6, 7}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_unit_with_other_rows_than_its_metadata_is_an_error) {
  const EpochOrder order({}, three_units(true));
  Dealer dealer(order, {}, {});
  const auto task = dealer.next_unit();
  const auto done = dealer.unit_done(task->part, 9);
  BOOST_REQUIRE(!done.has_value());
  BOOST_TEST(done.error().message == "unit 0 has 9 rows; when the data set was opened it had 10");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
