#include "flow/function_batches.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

using data::FunctionKind;

data::FunctionStep step_of(FunctionKind kind, std::optional<std::int64_t> batch_size = std::nullopt) {
  data::FunctionStep step;
  step.kind = kind;
  step.batch_size = batch_size;
  return step;
}

data::FunctionNode node_of(const std::vector<data::FunctionStep>& steps) {
  data::FunctionNode node;
  static_cast<data::FunctionStep&>(node) = steps.front();
  node.then.assign(steps.begin() + 1, steps.end());
  return node;
}

const data::FunctionStep map = step_of(FunctionKind::map);
const data::FunctionStep flat_map = step_of(FunctionKind::flat_map);
const data::FunctionStep units = step_of(FunctionKind::map_batches);

data::FunctionStep batches(std::int64_t rows) { return step_of(FunctionKind::map_batches, rows); }

BOOST_AUTO_TEST_SUITE(function_batches)

BOOST_AUTO_TEST_CASE(all_functions_of_a_node_get_the_batches_that_they_want) {
  BOOST_TEST(batch_rows_of(node_of({map})).value() == 1);
  BOOST_TEST(batch_rows_of(node_of({batches(4), map, batches(6)})).value() == 12);
}

BOOST_AUTO_TEST_CASE(where_no_number_is_wanted_the_caller_names_one) {
  BOOST_TEST(batch_rows_of(node_of({units})).value() == 1);
  BOOST_TEST(batch_rows_of(node_of({units, batches(3)}), 1024).value() == 3072);
  BOOST_TEST(batch_rows_of(node_of({map}), 1024).value() == 1);
}

BOOST_AUTO_TEST_CASE(behind_a_function_that_changes_the_number_of_rows_no_batch_is_known) {
  BOOST_TEST(batch_rows_of(node_of({flat_map, map})).value() == 1);
  BOOST_TEST(batch_rows_of(node_of({flat_map, units}), 1024).value() == 1);
  BOOST_TEST(!batch_rows_of(node_of({flat_map, batches(2)})));
  BOOST_TEST(batch_rows_of(node_of({batches(2), flat_map})).value() == 2);
}

BOOST_AUTO_TEST_CASE(numbers_above_the_bound_are_none) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  BOOST_TEST(batch_rows_of(node_of({batches(most)})).value() == most);
  BOOST_TEST(!batch_rows_of(node_of({batches(most + 1)})));
  BOOST_TEST(!batch_rows_of(node_of({batches(most), batches(3)})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace headway::flow
