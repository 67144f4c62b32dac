#include "flow/window_stage.hpp"

#include "arrow_values.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace headway::flow {
namespace {

constexpr std::int64_t numbered_row_bytes = 8 + 4;  ///< A number, and where a text ends.

/// Rows with the numbers [begin, end), each with a text of `text` bytes.
std::shared_ptr<arrow::RecordBatch> rows_numbered(std::int64_t begin, std::int64_t end, std::int64_t text = 0) {
  arrow::Int64Builder numbers;
  arrow::StringBuilder texts;
  for (std::int64_t i = begin; i < end; ++i) {
    must(numbers.Append(i));
    must(texts.Append(std::string(static_cast<std::size_t>(text), 'a')));
  }
  const auto schema = arrow::schema({arrow::field("number", arrow::int64()), arrow::field("text", arrow::utf8())});
  return arrow::RecordBatch::Make(schema, end - begin, {must(numbers.Finish()), must(texts.Finish())});
}

class GivenChunks : public Stage {
 public:
  explicit GivenChunks(std::deque<Chunk> chunks) : chunks_(std::move(chunks)) {}

  arrow::Result<std::optional<Chunk>> next() override {
    if (chunks_.empty()) return std::nullopt;
    std::optional<Chunk> chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
  }
  std::shared_ptr<arrow::Schema> schema() const override { return nullptr; }
  void stop() override {}

 private:
  std::deque<Chunk> chunks_;
};

/// The rows of one window with so many units, in chunks of `rows` rows.
std::deque<Chunk> window_in_chunks(int units, std::int64_t rows_of_unit, std::int64_t rows, std::int64_t text = 0) {
  std::deque<Chunk> chunks;
  for (int unit = 0; unit < units; ++unit) {
    for (std::int64_t row = 0; row < rows_of_unit; row += rows) {
      const std::int64_t begin = unit * rows_of_unit + row;
      const std::int64_t end = std::min(begin + rows, (unit + 1) * rows_of_unit);
      chunks.push_back({rows_numbered(begin, end, text), 0, unit, end == (unit + 1) * rows_of_unit, nullptr});
    }
  }
  return chunks;
}

/// Windows of any size, which are shuffled in parts.
std::shared_ptr<const data::EpochOrder> order_in_parts(int units, std::int64_t part_bytes, std::uint32_t epoch = 0) {
  data::OrderConfig config;
  config.seed = 7;
  config.epoch = epoch;
  config.permutes_rows = true;
  config.window_bytes = 1 << 20;
  config.part_bytes = part_bytes;
  const std::vector<data::UnitSize> sizes(static_cast<std::size_t>(units), {-1, 1});
  return std::make_shared<const data::EpochOrder>(config, sizes);
}

/// The numbers of all rows as they come. Only the last chunk ends the window.
std::vector<std::int64_t> shuffled(std::deque<Chunk> chunks, const std::shared_ptr<const data::EpochOrder>& order) {
  WindowStage stage(std::make_unique<GivenChunks>(std::move(chunks)), order, arrow::default_memory_pool());
  std::vector<std::int64_t> numbers;
  std::vector<bool> ends;
  while (auto chunk = must(stage.next())) {
    const auto& column = static_cast<const arrow::Int64Array&>(*chunk->rows->column(0));
    for (std::int64_t i = 0; i < column.length(); ++i) numbers.push_back(column.Value(i));
    ends.push_back(chunk->ends_unit);
  }
  BOOST_TEST(std::ranges::count(ends, true) == 1);
  BOOST_TEST(ends.back());
  return numbers;
}

std::set<std::int64_t> set_of(const std::vector<std::int64_t>& numbers, std::size_t begin, std::size_t end) {
  return {numbers.begin() + static_cast<std::ptrdiff_t>(begin), numbers.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::set<std::int64_t> numbers_from(std::int64_t begin, std::int64_t end) {
  std::set<std::int64_t> numbers;
  for (std::int64_t i = begin; i < end; ++i) numbers.insert(i);
  return numbers;
}

BOOST_AUTO_TEST_SUITE(windows_of_rows)

BOOST_AUTO_TEST_CASE(a_window_that_fits_is_shuffled_as_a_whole) {
  const auto order = order_in_parts(3, 300 * numbered_row_bytes);
  const std::vector<std::int64_t> numbers = shuffled(window_in_chunks(3, 100, 40), order);
  std::vector<std::uint32_t> expected;
  order->row_order(0, 300, expected);
  BOOST_TEST(std::ranges::equal(numbers, expected));
}

BOOST_AUTO_TEST_CASE(a_larger_one_is_shuffled_in_parts_that_end_where_the_rows_say) {
  const auto order = order_in_parts(3, 100 * (numbered_row_bytes + 50));
  const std::vector<std::int64_t> numbers = shuffled(window_in_chunks(3, 100, 37, 50), order);
  BOOST_TEST_REQUIRE(numbers.size() == 300U);
  for (std::size_t part = 0; part < 300; part += 100) {
    const auto first = static_cast<std::int64_t>(part);
    BOOST_TEST(set_of(numbers, part, part + 100) == numbers_from(first, first + 100));
  }
  BOOST_TEST(!std::ranges::is_sorted(numbers.begin(), numbers.begin() + 100));
  const auto shift = [&](std::ptrdiff_t part) {
    std::vector<std::int64_t> within(numbers.begin() + part, numbers.begin() + part + 100);
    for (std::int64_t& number : within) number -= part;
    return within;
  };
  BOOST_TEST(shift(0) != shift(100));  // Parts have different orders.
  for (const std::int64_t rows : {1, 10, 100}) {
    BOOST_TEST(shuffled(window_in_chunks(3, 100, rows, 50), order) == numbers);
  }
  BOOST_TEST(shuffled(window_in_chunks(3, 100, 37, 50), order_in_parts(3, 100 * (numbered_row_bytes + 50), 1)) !=
             numbers);
}

BOOST_AUTO_TEST_CASE(a_row_that_is_larger_than_a_part_is_one_alone) {
  const std::vector<std::int64_t> numbers = shuffled(window_in_chunks(2, 5, 5, 1000), order_in_parts(2, 100));
  std::vector<std::int64_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  BOOST_TEST(numbers == expected);
}

BOOST_AUTO_TEST_CASE(units_without_rows_count) {
  std::deque<Chunk> chunks = window_in_chunks(2, 5, 5);
  chunks.push_front({nullptr, 0, 2, true, nullptr});
  chunks.push_back({nullptr, 0, 3, true, nullptr});
  BOOST_TEST(shuffled(std::move(chunks), order_in_parts(4, 1 << 20)).size() == 10U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
