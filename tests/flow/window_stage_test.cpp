#include "flow/window_stage.hpp"

#include "arrow_values.hpp"
#include "flow/bytes_of_rows.hpp"
#include "flow/cut_stages.hpp"

#include <arrow/array/util.h>
#include <arrow/compute/api.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

namespace headway::flow {
namespace {

constexpr std::int64_t numbered_row_bytes = 2 * 8 + 8;  ///< Two columns, and a number.

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

/// 100 rows with nothing, a pair, a text, numbers and two lists: as a function's first outputs have
/// them, or those after later ones have made the types wider.
std::shared_ptr<arrow::RecordBatch> rows_before(bool wider) {
  const auto nulls = [](const auto& type) { return must(arrow::MakeArrayOfNull(type, 100)); };
  const auto of = [numbers = rows_numbered(0, 100)->column(0)](const auto& type) {
    return must(arrow::compute::Cast(*numbers, type));
  };
  const auto lists = [&](const std::shared_ptr<arrow::DataType>& type) {
    arrow::Int32Builder ends;
    for (int row = 0; row <= 100; ++row) must(ends.Append(row / 2));
    return must(arrow::ListArray::FromArrays(*must(ends.Finish()), *of(type)));
  };
  const auto number = of(wider ? arrow::float64() : arrow::int32());
  arrow::ArrayVector fields = {number};
  arrow::FieldVector named = {arrow::field("a", number->type())};
  if (wider) {
    fields.push_back(nulls(arrow::utf8()));
    named.push_back(arrow::field("b", arrow::utf8()));
  }
  const arrow::ArrayVector columns = {nulls(wider ? arrow::list(arrow::int64()) : arrow::null()),
                                      must(arrow::StructArray::Make(fields, named)),
                                      of(wider ? arrow::large_utf8() : arrow::utf8()),
                                      number,
                                      lists(wider ? arrow::float64() : arrow::float32()),
                                      lists(arrow::uint8())};
  arrow::FieldVector schema;
  for (const auto& column : columns) schema.push_back(arrow::field(std::to_string(schema.size()), column->type()));
  return arrow::RecordBatch::Make(arrow::schema(schema), 100, columns);
}

BOOST_AUTO_TEST_CASE(wider_types_leave_the_ends_of_parts_where_they_are) {
  const auto narrow = rows_before(false);
  const auto wide = rows_before(true);
  for (std::int64_t begin = 0; begin < 100; begin += 33) {
    for (std::int64_t rows = 0; rows <= 100 - begin; ++rows) {
      BOOST_TEST(bytes_of_rows(*narrow->Slice(begin), rows) == bytes_of_rows(*wide->Slice(begin), rows));
    }
  }
  // Six columns, two numbers of eight bytes, the digits, and half a value in each list.
  BOOST_TEST(bytes_of_rows(*narrow, 100) == 100 * 6 * 8 + 100 * 2 * 8 + 190 + 50 * 8 + 50);
  BOOST_TEST(rows_within(*narrow, bytes_of_rows(*narrow, 40)).rows == 40);
  const RowsAndBytes fitting = rows_within(*narrow, bytes_of_rows(*narrow, 40) - 1);
  BOOST_TEST(fitting.rows == 39);
  BOOST_TEST(fitting.bytes == bytes_of_rows(*narrow, 39));
}

BOOST_AUTO_TEST_CASE(categories_have_the_bytes_of_their_values) {
  const auto of = [](const std::shared_ptr<arrow::Array>& column) {
    return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", column->type())}), column->length(), {column});
  };
  arrow::StringBuilder texts;
  arrow::Int64Builder numbers;
  for (const int row : {0, 1, 2, 0, 1, 2, 3}) {
    must(row == 3 ? texts.AppendNull() : texts.Append(std::string(static_cast<std::size_t>(row * 5), 'a')));
    must(row == 3 ? numbers.AppendNull() : numbers.Append(row));
  }
  for (const auto& plain : {must(texts.Finish()), must(numbers.Finish())}) {
    const auto categories = of(must(arrow::compute::DictionaryEncode(plain)).make_array());
    for (std::int64_t begin = 0; begin < 7; ++begin) {
      for (std::int64_t rows = 0; rows <= 7 - begin; ++rows) {
        BOOST_TEST(bytes_of_rows(*categories->Slice(begin), rows) == bytes_of_rows(*of(plain)->Slice(begin), rows));
      }
    }
  }
}

/// Where units end that a stage cuts.
std::vector<std::int64_t> cut(std::int64_t chunk_rows, std::int64_t rows, const UnitBytes& bytes) {
  const auto stage = cut_anew(
      std::make_unique<GivenChunks>(window_in_chunks(1, 100, chunk_rows, 1000 - numbered_row_bytes)), rows, bytes);
  std::vector<std::int64_t> ends;
  std::int64_t count = 0;
  while (const auto chunk = must(stage->next())) {
    count += chunk->rows->num_rows();
    if (chunk->ends_unit) ends.push_back(count);
  }
  BOOST_TEST(count == 100);
  return ends;
}

BOOST_AUTO_TEST_CASE(units_of_large_rows_end_at_the_same_rows_in_whatever_batches_they_come) {
  using Ends = std::vector<std::int64_t>;
  for (const std::int64_t chunk_rows : {1, 7, 30, 40, 100}) {
    BOOST_TEST((cut(chunk_rows, 40, {}) == Ends{40, 80}));
    BOOST_TEST((cut(chunk_rows, 40, {30'000}) == Ends{30, 60, 90}));
    BOOST_TEST((cut(chunk_rows, 40, {29'999}) == Ends{30, 60, 90}));
    BOOST_TEST((cut(chunk_rows, 40, {30'001}) == Ends{31, 62, 93}));
    BOOST_TEST((cut(chunk_rows, 40, {.most = 17'500, .multiple = 20}) == Ends{20, 40, 60, 80, 100}));
    BOOST_TEST((cut(chunk_rows, 40, {.most = 20'001, .multiple = 20}) == Ends{40, 80}));
    BOOST_TEST(cut(chunk_rows, 40, {1}).size() == 100U);
  }
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
