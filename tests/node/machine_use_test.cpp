#include "node/machine_use.hpp"

#include "node/scratch.hpp"

#include <fstream>

/// How much of a machine is in use, from what its kernel tells.
namespace headway::node {

namespace {

struct Kernel {
  /// Ticks in user code, idle and waiting for disks.
  void tells(int user, int idle, int waiting) const {
    std::ofstream(scratch.path("stat")) << "cpu  " << user << " 0 0 " << idle << " " << waiting << " 0 0 0 0 0\n";
  }

  Scratch scratch;
  MachineUse machine{scratch.root};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(machine_use_suite, Kernel)

BOOST_AUTO_TEST_CASE(the_share_of_cpus_is_that_since_the_last_look) {
  tells(100, 900, 0);
  BOOST_TEST(!machine.look(false).cpu_share.has_value());
  tells(125, 970, 5);
  BOOST_TEST(machine.look(false).cpu_share.value() == 0.25);
}

BOOST_AUTO_TEST_CASE(counts_that_go_back_give_no_share_that_a_driver_refuses) {
  tells(100, 900, 50);
  machine.look(false);
  tells(200, 900, 10);  // More was done than time has passed.
  BOOST_TEST(machine.look(false).cpu_share.value() == 1);
  tells(190, 1000, 10);
  BOOST_TEST(machine.look(false).cpu_share.value() == 0);
}

BOOST_AUTO_TEST_CASE(memory_is_what_is_not_available) {
  std::ofstream(scratch.path("meminfo")) << "MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  400 kB\n";
  const Use& use = machine.look(false);
  BOOST_TEST(use.memory_total_bytes.value() == 1000 * 1024);
  BOOST_TEST(use.memory_bytes.value() == 600 * 1024);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
