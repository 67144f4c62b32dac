#include "flow/finer_source.hpp"

#include "data/plan_nodes.hpp"
#include "flow/range_source.hpp"
#include "flow/sources/files_on_disk.hpp"

#include <boost/test/unit_test.hpp>

/// Rows of a source in more units than it has.
namespace headway::flow {
namespace {

std::shared_ptr<const Source> numbers(std::int64_t rows) {
  return must(open_range({.rows = rows, .tensor_shape = {}}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(finer_units)

BOOST_AUTO_TEST_CASE(have_the_same_rows_in_the_same_order) {
  for (const std::int64_t rows : {1, 7, 300, 1000, 5000}) {
    const auto source = in_finer_units(numbers(1000), rows);
    BOOST_TEST(source->units().size() == static_cast<std::size_t>((1000 + rows - 1) / rows));
    BOOST_TEST(source->units().front().rows == std::min<std::int64_t>(rows, 1000));
    BOOST_TEST(combined(rows_of(*source))->Equals(*combined(rows_of(*numbers(1000)))));
  }
}

BOOST_AUTO_TEST_CASE(end_where_units_of_the_source_end) {
  const auto source = in_finer_units(numbers(200'000), 60'000);  // A unit has 131,072 rows.
  std::vector<std::int64_t> rows;
  for (const Unit& unit : source->units()) rows.push_back(unit.rows);
  BOOST_TEST(rows == (std::vector<std::int64_t>{60'000, 60'000, 11'072, 60'000, 8'928}));
  BOOST_TEST(combined(rows_of(*source))->Equals(*combined(rows_of(*numbers(200'000)))));
}

BOOST_AUTO_TEST_CASE(name_their_rows_as_the_source_does) {
  const auto source = in_finer_units(numbers(1000), 300);
  const Unit& last = source->units().back();
  BOOST_TEST(last.where == "range, rows 0 to 999, of these 900 to 999");
  BOOST_TEST(source->place_of(last, 5) == "range, rows 0 to 999, row 905 of it");
  BOOST_TEST(in_finer_units(numbers(1000), 1000)->units().front().where == "range, rows 0 to 999");
}

BOOST_AUTO_TEST_CASE(are_none_where_rows_are_not_known) {
  const FilesOnDisk disk;
  disk.write("a.txt", "one\ntwo\n");
  BOOST_TEST(in_finer_units(opened(read_node("text", {disk.path("a.txt")})), 1) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
