#include "node/resource_ledger.hpp"
#include "scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <sched.h>
#include <thread>

/// What of its machine a process may use.
namespace headway::node {

namespace {

/// A cgroup's folder; an empty text: no such file.
std::string cgroup_of(const Scratch& scratch, const std::string& cpu_max, const std::string& memory_max) {
  if (!cpu_max.empty()) std::ofstream(scratch.path("cpu.max")) << cpu_max << "\n";
  if (!memory_max.empty()) std::ofstream(scratch.path("memory.max")) << memory_max << "\n";
  return scratch.root;
}

int usable_on_one_cpu() {
  int usable = 0;
  std::thread([&] {
    cpu_set_t all;
    BOOST_REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    BOOST_REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
    usable = usable_cpus();
  }).join();
  return usable;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resource_detection)

BOOST_AUTO_TEST_CASE(cpus_are_those_of_the_affinity) { BOOST_TEST(usable_on_one_cpu() == 1); }

BOOST_AUTO_TEST_CASE(a_quota_of_less_than_a_cpu_is_one) {
  const Scratch scratch;
  BOOST_TEST(usable_cpus(cgroup_of(scratch, "50000 100000", "")) == 1);
}

BOOST_AUTO_TEST_CASE(without_a_quota_the_affinity_counts) {
  const Scratch none;
  const Scratch most;
  BOOST_TEST(usable_cpus(cgroup_of(most, "max 100000", "")) == usable_cpus(none.root));
}

BOOST_AUTO_TEST_CASE(memory_is_no_more_than_the_cgroup_may_have) {
  const Scratch none;
  const Scratch most;
  const Scratch little;
  const Scratch much;
  const std::int64_t machine = usable_memory(none.root);
  BOOST_TEST(machine > 0);
  BOOST_TEST(usable_memory(cgroup_of(most, "", "max")) == machine);
  BOOST_TEST(usable_memory(cgroup_of(little, "", "1048576")) == 1048576);
  BOOST_TEST(usable_memory(cgroup_of(much, "", "9000000000000000000")) == machine);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
