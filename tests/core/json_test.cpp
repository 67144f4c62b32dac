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

enum class Colour { red, green = 5 };
BOOST_DESCRIBE_ENUM(Colour, red, green)

struct Everything {
  bool flag = false;
  std::uint64_t size = 0;
  std::int64_t index = 0;
  Colour colour = Colour::red;
  std::vector<Sample> samples = {};
  std::map<std::string, double> shares = {};
  std::optional<std::vector<Colour>> colours = {};
  Json any = {};
  JsonObject object = {};
  JsonArray array = {};
};
BOOST_DESCRIBE_STRUCT(Everything, (), (flag, size, index, colour, samples, shares, colours, any, object, array))

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

BOOST_AUTO_TEST_CASE(a_struct_of_every_kind_of_member_goes_out_in_order_and_comes_back) {
  const std::string text =
      R"({"flag":true,"size":18446744073709551615,"index":-3,"colour":"green","samples":[{"count":1,"name":"a","share":null},)"
      R"({"count":2,"name":"b","share":1.5E0}],"shares":{"x":2.5E-1},"colours":["red"],"any":[1,null],"object":{"k":"v"},)"
      R"("array":[true]})";
  const Result<Everything> read = from_json_text<Everything>(text, "test");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(read->size == std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST((read->colour == Colour::green));
  BOOST_TEST(read->samples.at(1).share.value() == 1.5);
  BOOST_TEST(to_json_text(*read) == text);
  BOOST_TEST(to_json_text(std::optional<Sample>()) == "null");
  BOOST_TEST(to_json_text(std::shared_ptr<const std::vector<int>>()) == "[]");
  BOOST_TEST(to_json_text(std::make_shared<const std::vector<int>>(2, 7)) == "[7,7]");
  BOOST_TEST(to_json_text(Everything{.colour = static_cast<Colour>(9)}).find(R"("colour":9)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_first_member_that_does_not_fit_is_named_with_its_place) {
  const auto said = [](std::string_view member, const char* value) {
    Json json = to_json(Everything{.samples = {Sample{}, Sample{}}});
    Json* at = &json;
    if (member.starts_with("samples[1].")) at = &json.at("samples").at(1);
    at->as_object()[member.substr(member.rfind('.') + 1)] = parse_json(value, "test").value();
    return from_json<Everything>(json, "here").error().message;
  };
  BOOST_TEST(said("flag", "1") == "here: expected true or false as \"flag\", found 1");
  BOOST_TEST(said("size", "-1") == "here: expected a whole number that is not negative as \"size\", found -1");
  BOOST_TEST(said("index", "1.5") == "here: expected a whole number as \"index\", found 1.5");
  BOOST_TEST(said("colour", "\"blue\"") ==
             "here: expected one of the values that there are as \"colour\", found \"blue\"");
  BOOST_TEST(said("colours", "[\"red\",3]") ==
             "here: expected one of the values that there are as \"colours[1]\", found 3");
  BOOST_TEST(said("samples", "7") == "here: expected a list as \"samples\", found 7");
  BOOST_TEST(said("samples[1].name", "7") == "here: expected text as \"samples[1].name\", found 7");
  BOOST_TEST(said("shares", "{\"x\":\"y\"}") == "here: expected a number as \"shares.x\", found \"y\"");
  BOOST_TEST(said("object", "[]") == "here: expected an object as \"object\", found a list");
  BOOST_TEST(from_json_text<Everything>("{}", "here").error().message ==
             "here: expected true or false as \"flag\", found none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
