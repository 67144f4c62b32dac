#include "node/gpu_use.hpp"

#include "storage/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>

/// What nvidia-smi tells: here it is a script that prints what that program prints.
namespace headway::node {

namespace {

using namespace std::chrono_literals;

struct StandIn {
  /// A program with this body.
  std::string program(const std::string& body) const {
    const std::string path = scratch.write("nvidia-smi", "#!/bin/sh\n" + body);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  /// Looks until something is known.
  static void look(GpuWatch& watch) {
    while (watch.look(start).empty() && watch.why_none().empty()) {
    }
  }

  storage::Scratch scratch;
  static constexpr std::chrono::steady_clock::time_point start{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(gpu_use_suite, StandIn)

BOOST_AUTO_TEST_CASE(a_line_is_a_gpu) {
  const auto use = parse_gpu_line("3, NVIDIA H100 80GB HBM3, 37, 12288, 81559");
  BOOST_REQUIRE(use.has_value());
  BOOST_TEST(use->index == 3);
  BOOST_TEST(use->name == "NVIDIA H100 80GB HBM3");
  BOOST_TEST(use->share.value() == 0.37);
  BOOST_TEST(use->memory_bytes.value() == 12288.0 * 1048576);
  BOOST_TEST(use->memory_total_bytes.value() == 81559.0 * 1048576);
  // A device in parts (MIG) tells no share.
  const auto parts = parse_gpu_line("0, A100, PCIe, [N/A], 1, 2");
  BOOST_REQUIRE(parts.has_value());
  BOOST_TEST(parts->name == "A100, PCIe");
  BOOST_TEST(!parts->share.has_value());
  for (const char* other : {"", "No devices were found", "x, H100, 1, 2, 3", "0, , 1, 2, 3", "0, 1, 2, 3", ",,,,"}) {
    BOOST_TEST(!parse_gpu_line(other).has_value(), other);
  }
}

BOOST_AUTO_TEST_CASE(gpus_are_in_order_and_the_newest_line_of_each_counts) {
  GpuWatch watch(program("printf '1, B, 20, 2, 8\\n0, A, 10, 1, 8\\n1, B, 90, 4, 8\\n'; exec tail -f /dev/null\n"));
  while (watch.look(start).size() < 2 || watch.look(start)[1].share != 0.9) {
  }
  BOOST_TEST(watch.look(start)[0].name == "A");
  BOOST_TEST(watch.why_none().empty());
  // It hangs: what it said is not true for ever.
  BOOST_TEST(watch.look(start + 10s).size() == 2U);
  BOOST_TEST(watch.look(start + 60s).empty());
  BOOST_TEST(watch.why_none().ends_with("nvidia-smi does not answer"));
}

BOOST_AUTO_TEST_CASE(it_is_said_why_there_are_none) {
  GpuWatch absent("nvidia-smi-of-nobody");
  BOOST_TEST(absent.look(start).empty());
  BOOST_TEST(absent.why_none() == "nvidia-smi-of-nobody is not on the PATH");
  GpuWatch broken(program("echo \"NVIDIA-SMI has failed because it couldn't communicate with the driver\"; exit 9\n"));
  look(broken);
  BOOST_TEST(broken.why_none().find("says: NVIDIA-SMI has failed") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
