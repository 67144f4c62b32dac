#include "flow/shared_ring.hpp"

#include "flow/slot_batch.hpp"
#include "flow/slot_memory.hpp"

#include <arrow/api.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace headway::flow {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::int64_t row_bytes = 2 * ring_row_bytes_min;

std::shared_ptr<SharedRing> ring_of(Budget& budget, std::uint64_t bytes) {
  auto made = SharedRing::make(budget, bytes);
  BOOST_REQUIRE(made.has_value());
  return *made;
}

std::uint64_t place_of(const SharedRing& ring, const arrow::Buffer& buffer) { return ring.offset_of(buffer.data()); }

/// One row whose bytes are `buffer`.
std::shared_ptr<arrow::RecordBatch> row_of(const std::shared_ptr<arrow::Buffer>& buffer) {
  const auto values = std::make_shared<arrow::UInt8Array>(buffer->size(), buffer);
  const auto type = arrow::fixed_size_list(arrow::uint8(), static_cast<std::int32_t>(buffer->size()));
  const auto column = std::make_shared<arrow::FixedSizeListArray>(type, 1, values);
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("image", type)}), 1, {column});
}

SlotBatch planned(const std::vector<std::shared_ptr<arrow::RecordBatch>>& rows, SharedRing& ring) {
  return SlotBatch::plan(*rows.front()->schema(), rows, &ring).ValueOrDie();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_rings)

BOOST_AUTO_TEST_CASE(rows_lie_one_behind_the_other_and_continue_at_the_start) {
  Budget budget(16 * page);
  const auto ring = ring_of(budget, 4 * page);
  auto first = ring->append(2 * page);
  auto second = ring->append(page + 10);
  BOOST_TEST(place_of(*ring, *first) == 0u);
  BOOST_TEST(place_of(*ring, *second) == 2 * page);
  BOOST_TEST(ring->append(page) == nullptr);  // Full.
  first = nullptr;
  const auto third = ring->append(2 * page);
  BOOST_REQUIRE(third != nullptr);
  BOOST_TEST(place_of(*ring, *third) == 3 * page + 10);
  std::fill_n(third->mutable_data(), third->size(), std::uint8_t{7});
  BOOST_TEST(ring->has(third->data(), third->size()));
  const auto fourth = ring->append(page - 10);  // Up to where the second one begins.
  BOOST_REQUIRE(fourth != nullptr);
  std::fill_n(fourth->mutable_data(), fourth->size(), std::uint8_t{9});
  BOOST_TEST(std::all_of(third->data(), third->data() + third->size(), [](std::uint8_t each) { return each == 7; }));
}

/// Pages that the memory has.
std::int64_t pages_of(const SharedRing& ring) {
  const wire::Fd file = std::move(*ring.share());
  struct stat found{};
  BOOST_REQUIRE(fstat(file.get(), &found) == 0);
  return found.st_blocks * 512 / static_cast<std::int64_t>(page);
}

bool has_only(const arrow::Buffer& buffer, std::uint8_t value) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size(),
                     [value](std::uint8_t each) { return each == value; });
}

BOOST_AUTO_TEST_CASE(pages_that_nobody_uses_are_given_up) {
  Budget budget(16 * page);
  const auto ring = ring_of(budget, 8 * page);
  auto passed = ring->append(6 * page + 100);
  passed = nullptr;
  // From within a page, and beyond the ring's end.
  const auto kept = ring->append(3 * page);
  std::fill_n(kept->mutable_data(), kept->size(), std::uint8_t{7});
  auto left = ring->append(2 * page);
  std::fill_n(left->mutable_data(), left->size(), std::uint8_t{8});
  BOOST_TEST(pages_of(*ring) == 8);
  ring->drop_free();
  BOOST_TEST(pages_of(*ring) == 6);
  left = nullptr;
  ring->drop_free();
  BOOST_TEST(pages_of(*ring) == 5);  // Four with bytes that are kept, and one where a turn ends.
  BOOST_TEST(has_only(*kept, 7));
}

BOOST_AUTO_TEST_CASE(of_what_clients_have_in_parts_those_pages_alone_stay) {
  Budget budget(16 * page);
  const auto ring = ring_of(budget, 8 * page);
  auto passed = ring->append(6 * page);
  passed = nullptr;
  auto rows = ring->append(7 * page);  // Beyond the ring's end.
  std::fill_n(rows->mutable_data(), rows->size(), std::uint8_t{7});
  const auto kept = ring->given(rows, page + 10, 2 * page);
  auto back = ring->given(rows, 5 * page, page);
  const auto dead = ring->given(rows, 6 * page, 10);
  ring->abandon(*dead);
  rows = nullptr;
  ring->drop_free();
  BOOST_TEST(pages_of(*ring) == 3 + 1 + 1);
  back = nullptr;
  ring->drop_free();
  BOOST_TEST(pages_of(*ring) == 3 + 1);
  BOOST_TEST(has_only(*kept, 7));
  BOOST_TEST(has_only(*dead, 7));
}

BOOST_AUTO_TEST_CASE(pages_that_a_client_may_use_stay_when_nobody_here_does) {
  Budget budget(16 * page);
  const auto ring = ring_of(budget, 4 * page);
  const auto before = ring->append(page);
  auto row = ring->append(2 * page);
  std::fill_n(row->mutable_data(), row->size(), std::uint8_t{9});
  const std::uint8_t* const bytes = row->data();
  ring->abandon(*ring->given(row, 0, row->size()));
  row = nullptr;
  ring->drop_free();
  BOOST_TEST(pages_of(*ring) == 3);
  BOOST_TEST(has_only(arrow::Buffer(bytes, 2 * page), 9));
  BOOST_TEST(ring->append(2 * page) == nullptr);  // It is not used again.
}

BOOST_AUTO_TEST_CASE(the_oldest_row_that_is_used_keeps_the_ring_full) {
  Budget budget(16 * page);
  const auto ring = ring_of(budget, 2 * page);
  const auto oldest = ring->append(page);
  auto other = ring->append(page);
  other = nullptr;
  BOOST_TEST(ring->append(1) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_ring_is_counted_and_there_is_none_beyond_the_budget) {
  Budget budget(4 * page);
  BOOST_TEST(ring_of(budget, 5 * page) == nullptr);
  auto ring = ring_of(budget, 3 * page);
  BOOST_TEST(budget.taken() == static_cast<std::int64_t>(3 * page));
  const auto row = ring->append(page);
  ring = nullptr;
  BOOST_TEST(budget.taken() == static_cast<std::int64_t>(3 * page));  // The row is in use.
}

BOOST_AUTO_TEST_CASE(places_are_filled_in_their_order_by_any_threads) {
  Budget budget(1 << 20);
  const auto ring = ring_of(budget, 64 * page);
  constexpr std::int64_t count = 8;
  std::vector<std::unique_ptr<RingPlace>> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(std::make_unique<RingPlace>(ring, i));
  std::vector<std::shared_ptr<arrow::Buffer>> rows(count);
  std::vector<std::thread> threads;
  for (std::size_t i = count; i-- > 0;) {
    threads.emplace_back([&, i] {
      if (i == 3) {  // Its row could not be read.
        places[i] = nullptr;
        return;
      }
      places[i]->announce(page);
      places[i]->announce(page);
      rows[i] = places[i]->next(page);
      BOOST_TEST(place_of(*ring, *places[i]->next(page)) == place_of(*ring, *rows[i]) + page);
      BOOST_TEST(places[i]->next(page) == nullptr);  // No third one was announced.
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 3) BOOST_TEST(place_of(*ring, *rows[i]) == 2 * page * (i < 3 ? i : i - 1));
  }
}

BOOST_AUTO_TEST_CASE(a_batch_of_neighbours_is_not_copied) {
  Budget budget(64 << 20);
  const auto ring = ring_of(budget, 4 * row_bytes);
  std::vector<std::shared_ptr<arrow::RecordBatch>> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(row_of(ring->append(row_bytes)));
  const SlotBatch batch = planned({rows[1], rows[2]}, *ring);
  BOOST_TEST(batch.in_ring().bytes == static_cast<std::uint64_t>(2 * row_bytes));
  BOOST_TEST(batch.size() == page);
  std::vector<std::byte> slot(3 * page);
  batch.write(slot, 1);
  BOOST_TEST(!feed::read_tables(slot).has_value());  // Beyond the slot lies nothing without a ring.
  const auto view = feed::read_tables(slot, 2 * ring->bytes());
  BOOST_REQUIRE(view.has_value());
  BOOST_TEST(view->buffers.back().offset == slot.size() + static_cast<std::uint64_t>(row_bytes));
  BOOST_TEST(view->buffers.back().size == static_cast<std::uint64_t>(2 * row_bytes));
}

BOOST_AUTO_TEST_CASE(a_batch_that_a_client_keeps_has_its_own_pages_alone) {
  Budget budget(64 << 20);
  const auto ring = ring_of(budget, 4 * row_bytes);
  auto memory = std::move(*SlotMemory::make(budget, page));
  memory->set_ring(ring);
  {
    const std::shared_ptr<arrow::Buffer> together = ring->append(3 * row_bytes);
    const auto row = row_of(arrow::SliceBuffer(together, row_bytes, row_bytes));
    const SlotBatch batch = planned({row}, *ring);
    memory->keep_with(memory->take(batch.size())->id, batch.in_ring().buffers);
  }
  const std::int64_t pages_of_row = row_bytes / static_cast<std::int64_t>(page);
  BOOST_TEST(pages_of(*ring) == 4 * pages_of_row);
  memory = nullptr;  // The client has left the epoch early.
  BOOST_TEST(pages_of(*ring) == pages_of_row);
}

BOOST_AUTO_TEST_CASE(other_rows_are_copied) {
  Budget budget(64 << 20);
  const auto ring = ring_of(budget, 4 * row_bytes);
  const auto elsewhere = row_of(*arrow::AllocateBuffer(row_bytes));
  std::vector<std::shared_ptr<arrow::RecordBatch>> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(row_of(ring->append(row_bytes)));
  BOOST_TEST(planned({rows[0], rows[2]}, *ring).in_ring().bytes == 0u);
  BOOST_TEST(planned({rows[1], rows[0]}, *ring).in_ring().bytes == 0u);
  BOOST_TEST(planned({rows[0], elsewhere}, *ring).in_ring().bytes == 0u);
  BOOST_TEST(planned({elsewhere}, *ring).in_ring().bytes == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
