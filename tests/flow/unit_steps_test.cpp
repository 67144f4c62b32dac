#include "flow/unit_steps.hpp"

#include <arrow/api.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace headway::flow {
namespace {

/// As many rows as there are lengths, each with a text of its length.
std::shared_ptr<arrow::RecordBatch> texts_of(const std::vector<int>& lengths) {
  arrow::Int64Builder numbers;
  arrow::StringBuilder texts;
  for (const int length : lengths) {
    BOOST_TEST_REQUIRE(numbers.Append(length).ok());
    BOOST_TEST_REQUIRE(texts.Append(std::string(static_cast<std::size_t>(length), 'x')).ok());
  }
  const auto schema = arrow::schema({arrow::field("number", arrow::int64()), arrow::field("text", arrow::utf8())});
  const auto rows = static_cast<std::int64_t>(lengths.size());
  return arrow::RecordBatch::Make(schema, rows, {numbers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()});
}

std::vector<std::int64_t> rows_of(const arrow::RecordBatchVector& batches) {
  std::vector<std::int64_t> rows;
  for (const auto& batch : batches) rows.push_back(batch->num_rows());
  return rows;
}

/// Takes the rows of a unit at once, or in parts of a multiple of so many, and notes what it gets.
class WholeStep : public UnitStep {
 public:
  explicit WholeStep(std::int64_t part_rows = 0) : part_rows_(part_rows) {}
  std::int64_t part_rows() const override { return part_rows_; }
  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    return input;
  }
  bool needs_whole_unit() const override { return true; }
  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row, const UnitPlace& place,
                    const ItemSink& sink) const override {
    firsts.push_back(first_row);
    seeds.push_back(place.seed);
    return sink(rows);
  }
  mutable std::vector<std::int64_t> firsts;
  mutable std::vector<std::uint64_t> seeds;

 private:
  const std::int64_t part_rows_;
};

/// So many rows of 1 MiB each.
std::shared_ptr<arrow::RecordBatch> megabytes(int rows) {
  return texts_of(std::vector<int>(static_cast<std::size_t>(rows), 1 << 20));
}

/// How many rows a step gets with each call.
std::vector<std::int64_t> rows_of_calls(const UnitSteps& steps, const std::vector<int>& puts) {
  std::vector<std::int64_t> rows;
  const ItemSink note = [&](const std::shared_ptr<arrow::RecordBatch>& made) {
    rows.push_back(made->num_rows());
    return arrow::Status::OK();
  };
  StepRun run(steps, UnitPlace{}, note);
  for (const int count : puts) BOOST_TEST(run.put(megabytes(count)).ok());
  BOOST_TEST(run.finish().ok());
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pieces_of_a_unit)

BOOST_AUTO_TEST_CASE(are_one_batch_as_far_as_their_text_fits) {
  const arrow::RecordBatchVector pieces = {texts_of({100}), texts_of({50, 50}), texts_of({300}), texts_of({1})};
  using Rows = std::vector<std::int64_t>;
  BOOST_TEST(rows_of(joined(pieces, 1 << 20).ValueOrDie()) == Rows({5}), boost::test_tools::per_element());
  BOOST_TEST(rows_of(joined(pieces, 250).ValueOrDie()) == Rows({3, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(rows_of(joined(pieces, 1).ValueOrDie()) == Rows({1, 2, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(joined({}, 1).ValueOrDie().empty());
}

BOOST_AUTO_TEST_CASE(with_numbers_alone_are_always_one_batch) {
  const auto numbers = texts_of({1, 2, 3})->SelectColumns({0}).ValueOrDie();
  BOOST_TEST(joined({numbers, numbers}, 1).ValueOrDie().front()->num_rows() == 6);
}

BOOST_AUTO_TEST_CASE(reach_a_step_that_takes_them_whole_at_once) {
  const auto step = std::make_shared<WholeStep>();
  UnitPlace place;
  place.seed = 7;
  std::int64_t rows = 0;
  const ItemSink count = [&](const std::shared_ptr<arrow::RecordBatch>& made) {
    rows += made->num_rows();
    return arrow::Status::OK();
  };
  const UnitSteps steps = {step};
  StepRun run(steps, place, count);
  BOOST_TEST(run.put(texts_of({1, 2})).ok());
  BOOST_TEST(run.put(texts_of({3})).ok());
  BOOST_TEST(run.finish().ok());
  BOOST_TEST(rows == 3);
  BOOST_TEST(step->firsts == std::vector<std::int64_t>({0}), boost::test_tools::per_element());
  BOOST_TEST(step->seeds == std::vector<std::uint64_t>({7}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(reach_a_step_in_parts_where_they_are_large) {
  using Rows = std::vector<std::int64_t>;
  const auto each = boost::test_tools::per_element();
  const auto ones = std::make_shared<WholeStep>(1);
  BOOST_TEST(rows_of_calls({ones}, {5, 5, 20, 3}) == Rows({10, 20, 3}), each);
  BOOST_TEST(ones->firsts == Rows({0, 10, 30}), each);
  BOOST_TEST((ones->seeds[0] != ones->seeds[1] && ones->seeds[1] != ones->seeds[2]));
  // Of four rows, so that batches are those of the whole unit.
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(4)}, {9, 9, 9}) == Rows({8, 8, 11}), each);
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(4)}, {2, 1, 6, 1, 1, 9}) == Rows({8, 12}), each);
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(4)}, {15}) == Rows({15}), each);
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(100)}, {9, 9, 9}) == Rows({27}), each);
}

BOOST_AUTO_TEST_CASE(are_whole_where_a_step_behind_takes_them_whole_too) {
  using Rows = std::vector<std::int64_t>;
  const auto each = boost::test_tools::per_element();
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(1), std::make_shared<WholeStep>()}, {9, 9}) == Rows({18}),
             each);
  BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>()}, {9, 9}) == Rows({18}), each);
}

/// Has a worker only when it is asked for the calls of these numbers.
class BusyStep : public WholeStep {
 public:
  explicit BusyStep(std::vector<int> free_at) : WholeStep(1), free_at_(std::move(free_at)) {}
  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row, const UnitPlace& place,
                    const ItemSink& sink) const override {
    if (place.wait != StepWait::until_there) {
      waits.push_back(place.wait);
      if (std::ranges::count(free_at_, waits.size() - 1) == 0) return worker_is_busy();
    }
    return WholeStep::run(rows, first_row, place, sink);
  }
  mutable std::vector<StepWait> waits;

 private:
  const std::vector<int> free_at_;
};

BOOST_AUTO_TEST_CASE(reach_a_step_behind_another_one_in_the_same_parts_whenever_it_has_a_worker) {
  using Rows = std::vector<std::int64_t>;
  const auto each = boost::test_tools::per_element();
  for (const std::vector<int>& free_at : {std::vector<int>{0, 1, 2, 3}, {}, {1}, {2, 3}}) {
    const auto busy = std::make_shared<BusyStep>(free_at);
    BOOST_TEST(rows_of_calls({std::make_shared<WholeStep>(1), busy}, {9, 10, 11, 1}) == Rows({9, 10, 11, 1}), each);
    BOOST_TEST(busy->firsts == Rows({0, 9, 19, 30}), each);
    const auto steady = std::make_shared<WholeStep>(1);
    rows_of_calls({steady}, {9, 10, 11, 1});
    BOOST_TEST(busy->seeds == steady->seeds, each);
  }
}

BOOST_AUTO_TEST_CASE(wait_for_a_worker_of_a_step_behind_another_one_when_there_are_many) {
  const auto busy = std::make_shared<BusyStep>(std::vector<int>{1, 2});
  rows_of_calls({std::make_shared<WholeStep>(1), busy}, {9, 10, 11, 12, 13, 1});
  using enum StepWait;
  // For 9 MiB, for both parts of 19, which get the worker then, for 11, 23 and 36.
  const std::vector wanted = {not_at_all, unless_in_the_way, unless_in_the_way,
                              not_at_all, unless_in_the_way, unless_in_the_way};
  BOOST_TEST((busy->waits == wanted));
}

BOOST_AUTO_TEST_CASE(are_let_go_by_a_step_only_where_the_unit_can_be_read_once_more) {
  class LettingGo : public WholeStep {
   public:
    arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t, const UnitPlace& place,
                      const ItemSink&) const override {
      if (place.let_go_input) place.let_go_input();
      freed.push_back(rows == nullptr);
      return arrow::Status::OK();
    }
    mutable std::vector<bool> freed;
  };
  const auto step = std::make_shared<LettingGo>();
  const ItemSink none = [](const std::shared_ptr<arrow::RecordBatch>&) { return arrow::Status::OK(); };
  const UnitSteps steps = {step};
  for (const bool may : {false, true}) {
    UnitPlace place;
    place.may_be_read_again = may;
    StepRun run(steps, place, none);
    BOOST_TEST(run.put(texts_of({1, 2})).ok());
    BOOST_TEST(run.finish().ok());
  }
  BOOST_TEST(step->freed == std::vector<bool>({false, true}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
