#include "feed/data_process.hpp"

#include "node/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

namespace headway::feed {
namespace {

struct Program : node::Scratch {
  std::string that_ends_with(int status) const {
    const std::string program = path("program");
    std::ofstream(program) << "#!/bin/sh\nexit " << status << '\n';
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(data_process, Program)

/// The system's loader ends with 127, whoever of the ranks has started the process.
BOOST_AUTO_TEST_CASE(a_program_that_the_loader_refuses_is_told_from_one_that_ends_by_itself) {
  BOOST_TEST(!DataProcess::can_load(that_ends_with(127), {}));
  BOOST_TEST(DataProcess::can_load(that_ends_with(0), {}));
  BOOST_TEST(DataProcess::can_load(that_ends_with(1), {}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::feed
