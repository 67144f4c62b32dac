#include "core/json.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <optional>

namespace headway {

struct Sample {
  int count = 0;
  std::string name;
  std::optional<double> share;
};
BOOST_DESCRIBE_STRUCT(Sample, (), (count, name, share))

BOOST_AUTO_TEST_SUITE(json_suite)

BOOST_AUTO_TEST_CASE(numbers_that_are_none_go_out_and_come_back_as_python_writes_them) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Json value = {{"loss", std::nan("")}, {"best", infinity}, {"worst", -infinity}};
  const std::string text = json_text(value);
  BOOST_TEST(text == R"({"loss":NaN,"best":Infinity,"worst":-Infinity})");
  const Result<Json> back = parse_json(text, "test");
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(std::isnan(back->at("loss").as_double()));
  BOOST_TEST(back->at("best").as_double() == infinity);
  BOOST_TEST(back->at("worst").as_double() == -infinity);
}

BOOST_AUTO_TEST_CASE(a_double_comes_back_bit_for_bit) {
  for (const double number : {0.1, 1e300, 5e-324, -0.0, 123456789.123456789, 1.0 / 3.0}) {
    const Result<Json> back = parse_json(json_text(Json(number)), "test");
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST(back->as_double() == number);
    BOOST_TEST(std::signbit(back->as_double()) == std::signbit(number));
  }
}

BOOST_AUTO_TEST_CASE(text_cut_short_or_followed_by_more_is_corrupted_and_named) {
  for (const char* text : {"", "{", "{\"a\":", "[1,2", "\"open", "{\"a\":1} x", "nul", "{\"a\":1}{"}) {
    const Result<Json> parsed = parse_json(text, "run.json");
    BOOST_REQUIRE(!parsed.has_value());
    BOOST_TEST((parsed.error().kind == ErrorKind::corrupted));
    BOOST_TEST(parsed.error().message.find("run.json is not JSON: ") == 0u);
  }
}

BOOST_AUTO_TEST_CASE(white_space_around_a_value_is_no_extra_data) {
  BOOST_TEST(parse_json(" {\"a\": 1}\n", "test").has_value());
}

BOOST_AUTO_TEST_CASE(nesting_without_end_is_an_error_and_not_a_crash) {
  BOOST_TEST(!parse_json(std::string(100'000, '['), "test").has_value());
}

BOOST_AUTO_TEST_CASE(a_path_finds_nested_numbers_and_an_exact_key_wins) {
  const Json json = {
      {"eval", {{"loss", 1}, {"top/5", 2}, {"deep", {{"er", 3}}}}}, {"eval/acc", 4}, {"a/b", {{"c", 5}}}, {"loss", 6}};
  const JsonObject& object = json.as_object();
  const auto found = [&](std::string_view path) {
    const Json* value = find_path(object, path);
    return value != nullptr && value->is_int64() ? value->as_int64() : -1;
  };
  BOOST_TEST(found("loss") == 6);
  BOOST_TEST(found("eval/loss") == 1);
  BOOST_TEST(found("eval/acc") == 4);
  BOOST_TEST(found("eval/top/5") == 2);
  BOOST_TEST(found("eval/deep/er") == 3);
  BOOST_TEST(found("a/b/c") == 5);
  for (const char* path : {"", "/", "eval/", "/loss", "eval/none", "loss/x", "none"}) BOOST_TEST(found(path) == -1);
}

BOOST_AUTO_TEST_CASE(a_described_struct_goes_both_ways_and_optional_members_may_be_missing) {
  const Result<Sample> full = from_json_text<Sample>(to_json_text(Sample{3, "x", 0.5}), "test");
  BOOST_REQUIRE(full.has_value());
  BOOST_TEST(full->count == 3);
  BOOST_TEST(full->share.value() == 0.5);
  const Result<Sample> less = from_json_text<Sample>(R"({"count":1,"name":"y"})", "test");
  BOOST_REQUIRE(less.has_value());
  BOOST_TEST(!less->share.has_value());
}

BOOST_AUTO_TEST_CASE(a_struct_that_does_not_fit_is_corrupted_and_named) {
  for (const char* text : {R"({"count":"many","name":"y"})", R"({"name":"y"})", "[]", "7"}) {
    const Result<Sample> read = from_json_text<Sample>(text, "journal line 4");
    BOOST_REQUIRE(!read.has_value());
    BOOST_TEST((read.error().kind == ErrorKind::corrupted));
    BOOST_TEST(read.error().message.find("journal line 4") == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
