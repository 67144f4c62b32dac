// The runner of every C++ test program, compiled once.
#define BOOST_TEST_MODULE headway
#include <boost/test/included/unit_test.hpp>
