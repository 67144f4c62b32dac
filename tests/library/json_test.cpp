#include <headway/json.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

/// The public JSON value: braces, access, text both ways.
namespace headway {

BOOST_AUTO_TEST_SUITE(json_suite)

BOOST_AUTO_TEST_CASE(braces_of_pairs_make_objects_and_others_arrays) {
  const Json config = {
      {"lr", 1e-3}, {"layers", {64, 32}}, {"deep", {{"on", true}}}, {"none", nullptr}, {"name", "small"}};
  BOOST_TEST(config.dump() == R"({"lr":0.001,"layers":[64,32],"deep":{"on":true},"none":null,"name":"small"})");
  BOOST_TEST((Json{{"a", 1}}).is_object());
  BOOST_TEST((Json{1, 2}).is_array());
  BOOST_TEST(Json::object().dump() == "{}");
  BOOST_TEST(Json::array({Json::array({"a", 1})}).dump() == R"([["a",1]])");
}

BOOST_AUTO_TEST_CASE(text_goes_both_ways_with_every_kind_of_number) {
  const std::string text =
      R"({"a":[1,-2,0.1,NaN,Infinity,-Infinity,9223372036854775807],"b":{"c":"\"\u00e4\n"},"d":null})";
  const Json parsed = Json::parse(text).value();
  BOOST_TEST(std::isnan(parsed.at("a").at(3).as_double()));
  BOOST_TEST(parsed.at("a").at(6).as_int() == std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(parsed.at("a").at(2).as_double() == 0.1);
  BOOST_TEST(Json::parse(parsed.dump()).value().dump() == parsed.dump());
  BOOST_TEST(Json(std::numeric_limits<std::uint64_t>::max()).as_double() == 18446744073709551615.0);
  BOOST_TEST(Json(-0.0).dump() == "-0.0");
  BOOST_TEST(Json(3.0).dump() == "3.0");
  BOOST_TEST(!Json::parse(Json(3.0).dump()).value().is_integer());
  BOOST_TEST(Json({0.1, 1e22, 1.5e-300}).dump() == "[0.1,1e+22,1.5e-300]");
  BOOST_TEST(Json("a \"quoted\"\n\x01 text").dump() == R"("a \"quoted\"\n\u0001 text")");
}

BOOST_AUTO_TEST_CASE(bad_text_is_an_error_with_its_place) {
  const Result<Json> parsed = Json::parse("{\"a\":}");
  BOOST_REQUIRE(!parsed);
  BOOST_TEST((parsed.error().kind == ErrorKind::corrupted));
  BOOST_TEST(parsed.error().message.find("byte") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_value_of_another_type_is_refused_with_what_it_is) {
  const Json config = {{"lr", "fast"}, {"half", 0.5}};
  const auto refused = [](const char* text) {
    return [text](const BadResult& error) {
      return error.error().kind == ErrorKind::invalid_argument &&
             std::string(error.what()).find(text) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION((void)config.at("lr").as_double(), BadResult, refused("is \"fast\"; wanted: a number"));
  BOOST_CHECK_EXCEPTION((void)config.at("half").as_int(), BadResult, refused("wanted: an integer"));
  BOOST_CHECK_EXCEPTION((void)config.at("missing"), BadResult, refused("no \"missing\"; its keys: lr, half"));
  BOOST_CHECK_EXCEPTION((void)Json(3).at("a"), BadResult, refused("wanted: an object"));
  BOOST_CHECK_EXCEPTION((void)Json::array({1}).at(1), BadResult, refused("index is 1"));
}

BOOST_AUTO_TEST_CASE(defaults_stand_in_for_missing_keys_alone) {
  const Json config = {{"epochs", 3}, {"lr", 1}};
  BOOST_TEST(config.value_or("epochs", 10) == 3);
  BOOST_TEST(config.value_or("lr", 0.5) == 1.0);
  BOOST_TEST(config.value_or("seed", 7) == 7);
  BOOST_TEST(config.value_or("name", "none") == "none");
  const std::string fallback = "some";
  BOOST_TEST(config.value_or("name", fallback) == "some");
  BOOST_TEST(config.value_or("on", true));
  BOOST_CHECK_THROW((void)config.value_or("epochs", "three"), BadResult);
}

BOOST_AUTO_TEST_CASE(objects_and_arrays_grow) {
  Json made;
  made["b"] = 1;
  made["a"].push_back("x");
  made["b"] = made["b"].as_int() + 1;
  BOOST_TEST(made.dump() == R"({"b":2,"a":["x"]})");
  BOOST_TEST((made == Json{{"b", 2}, {"a", Json::array({"x"})}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
