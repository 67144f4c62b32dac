#include "data/cursor.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::data {

BOOST_AUTO_TEST_SUITE(cursor_suite)

BOOST_AUTO_TEST_CASE(a_cursor_resumes_what_it_was_made_for_and_nothing_else) {
  const std::vector<std::string_view> no_blobs;
  const auto identity = [&](std::string_view rows) {
    return identity_of(
        plan_from_text("[{\"op\": \"range\", \"args\": {\"rows\": " + std::string(rows) + "}}]", 0).value(), no_blobs);
  };
  const std::vector<UnitSize> units = {{10, 80}, {4, 32}};
  Cursor cursor{.seed = 7, .epoch = 2};
  cursor.plan = identity("14");
  cursor.plan_hash = plan_hash(cursor.plan);
  cursor.source_hash = source_hash(units);
  cursor = moved(cursor, {12, 1, 2, 3});
  const Cursor read = parse_cursor(parse_json(to_json_text(cursor), "text").value(), "the cursor").value();
  BOOST_TEST(position_of(read).rows_before == 12);
  BOOST_TEST(check_cursor(read, identity("14"), source_hash(units), "\"train\"").has_value());
  BOOST_TEST(check_cursor(read, identity("15"), source_hash(units), "\"train\"").error().message ==
             "\"train\" cannot resume from its cursor: the operations have changed (range: rows was 14, is 15)");
  BOOST_TEST(check_cursor(read, identity("14"), source_hash({{{10, 80}, {5, 32}}}), "\"train\"").error().message ==
             "\"train\" cannot resume from its cursor: its files have other sizes or numbers of rows than before");
  BOOST_TEST(next_epoch(read).epoch == 3U);
  BOOST_TEST(next_epoch(read).rows_before == 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_cursor_is_refused) {
  Json json = to_json(Cursor{});
  BOOST_TEST(parse_cursor(json, "the cursor").has_value());
  json.get_object()["rows_before"] = -1;
  BOOST_TEST((parse_cursor(json, "the cursor").error().kind == ErrorKind::corrupted));
  json.get_object()["version"] = 2;
  BOOST_TEST(parse_cursor(json, "the cursor").error().message ==
             "the cursor was written by a newer version of Headway (2; this one reads 1)");
  BOOST_TEST(parse_cursor(5, "the cursor").error().message == "the cursor: expected an object, found 5");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
