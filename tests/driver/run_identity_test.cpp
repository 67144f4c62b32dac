#include "driver/run_identity.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace headway::driver {

BOOST_AUTO_TEST_SUITE(run_identity_suite)

BOOST_AUTO_TEST_CASE(a_trial_id_is_no_number_whatever_its_digits_are) {
  const std::string id = new_trial_id();
  BOOST_TEST(id.size() == 9U);
  BOOST_TEST(id.front() == 't');
  BOOST_TEST(std::all_of(id.begin() + 1, id.end(), [](char digit) {
    return std::string_view("0123456789abcdef").find(digit) != std::string_view::npos;
  }));
}

BOOST_AUTO_TEST_CASE(a_run_is_called_after_its_trainer_the_time_and_its_trial) {
  const std::string name = default_run_name("Trainer", "t1a2b3c4d");
  BOOST_TEST(name.starts_with("Trainer_20"));
  BOOST_TEST(name.ends_with("_1a2b"));
  BOOST_TEST(name.size() == std::string_view("Trainer_2026-01-31_12-00-00_1a2b").size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
