// The runner of every C++ test program, compiled once. BOOST_TEST_MODULE would ask to be defined
// ahead of the precompiled header, so the suite is named by hand.
#include <boost/test/included/unit_test.hpp>

boost::unit_test::test_suite* init_unit_test_suite(int, char**) {
  boost::unit_test::framework::master_test_suite().p_name.value = "headway";
  return nullptr;
}
