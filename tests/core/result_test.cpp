#include <headway/result.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>

namespace headway {

BOOST_AUTO_TEST_SUITE(result_suite)

BOOST_AUTO_TEST_CASE(a_value_is_there_and_can_be_moved_out) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  BOOST_REQUIRE(result.has_value());
  const std::unique_ptr<int> taken = std::move(result).value();
  BOOST_TEST(*taken == 7);
}

BOOST_AUTO_TEST_CASE(asking_for_a_value_that_is_not_there_throws_the_error_with_its_kind) {
  const Result<int> result(Error{ErrorKind::not_found, "no checkpoint at /x"});
  BOOST_TEST(!result);
  try {
    (void)result.value();
    BOOST_ERROR("value() of an error must throw");
  } catch (const BadResult& bad) {
    BOOST_TEST((bad.error().kind == ErrorKind::not_found));
    BOOST_TEST(std::string(bad.what()) == "no checkpoint at /x");
  }
}

BOOST_AUTO_TEST_CASE(success_without_a_value_and_its_failure) {
  const Result<void> good;
  BOOST_TEST(good.has_value());
  BOOST_CHECK_NO_THROW(good.value());
  const Result<void> bad(Error{ErrorKind::aborted, "stopped"});
  BOOST_TEST(!bad);
  BOOST_CHECK_THROW(bad.value(), BadResult);
}

BOOST_AUTO_TEST_CASE(a_result_of_text_keeps_text_and_error_apart) {
  const Result<std::string> text(std::string("fine"));
  BOOST_TEST(*text == "fine");
}

BOOST_AUTO_TEST_CASE(every_kind_has_its_name) {
  BOOST_TEST(std::string(to_string(ErrorKind::invalid_argument)) == "invalid_argument");
  BOOST_TEST(std::string(to_string(ErrorKind::unknown_outcome)) == "unknown_outcome");
  BOOST_TEST(std::string(to_string(ErrorKind::internal)) == "internal");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway
