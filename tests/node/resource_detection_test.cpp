#include "node/resource_ledger.hpp"
#include "scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>
#include <thread>

/// What of its machine a process may use.
namespace headway::node {

namespace {

/// Those of a container; an empty text: no such file.
ControlGroups cgroup_of(const Scratch& scratch, const std::string& cpu_max, const std::string& memory_max) {
  if (!cpu_max.empty()) std::ofstream(scratch.path("cpu.max")) << cpu_max << "\n";
  if (!memory_max.empty()) std::ofstream(scratch.path("memory.max")) << memory_max << "\n";
  return {scratch.root, scratch.path("own")};
}

/// Those of a process in the groups that `own` has, with files below the mount by name.
ControlGroups groups_of(const Scratch& scratch, const std::string& own,
                        const std::map<std::string, std::string>& files) {
  std::ofstream(scratch.path("own")) << own;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = scratch.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  return {scratch.root, scratch.path("own")};
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
  BOOST_TEST(usable_cpus(cgroup_of(most, "max 100000", "")) == usable_cpus(cgroup_of(none, "", "")));
}

BOOST_AUTO_TEST_CASE(memory_is_no_more_than_the_cgroup_may_have) {
  const Scratch none;
  const Scratch most;
  const Scratch little;
  const Scratch much;
  const std::int64_t machine = usable_memory(cgroup_of(none, "", ""));
  BOOST_TEST(machine > 0);
  BOOST_TEST(usable_memory(cgroup_of(most, "", "max")) == machine);
  BOOST_TEST(usable_memory(cgroup_of(little, "", "1048576")) == 1048576);
  BOOST_TEST(usable_memory(cgroup_of(much, "", "9000000000000000000")) == machine);
}

BOOST_AUTO_TEST_CASE(limits_of_a_job_on_a_machine_hold_for_all_processes_in_it) {
  const Scratch job;
  const ControlGroups unified = groups_of(job, "0::/slurm/job_7/step_0/task_1\n",
                                          {{"slurm/job_7/memory.max", "3000000"},
                                           {"slurm/job_7/step_0/memory.max", "max"},
                                           {"slurm/job_8/memory.max", "1000000"},
                                           {"slurm/job_7/step_0/cpu.max", "100000 100000"}});
  BOOST_TEST(usable_memory(unified) == 3000000);
  BOOST_TEST(usable_cpus(unified) == 1);
}

BOOST_AUTO_TEST_CASE(limits_of_the_first_version_hold_too) {
  const Scratch job;
  const std::string own = "4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/\n0::/\n";
  const ControlGroups groups = groups_of(job, own,
                                         {{"memory/slurm/memory.limit_in_bytes", "9223372036854771712"},
                                          {"memory/slurm/job_7/memory.limit_in_bytes", "2000000"},
                                          {"cpu/slurm/job_7/cpu.cfs_quota_us", "150000"},
                                          {"cpu/slurm/job_7/cpu.cfs_period_us", "100000"}});
  BOOST_TEST(usable_memory(groups) == 2000000);
  BOOST_TEST(usable_cpus(groups) == 1);
  const Scratch container;  // Its mount shows its own group as the root.
  const ControlGroups inside = groups_of(container, "4:memory:/docker/0a1b\n",
                                         {{"memory/memory.limit_in_bytes", "1000000"}, {"cpu/cpu.cfs_quota_us", "-1"}});
  BOOST_TEST(usable_memory(inside) == 1000000);
  BOOST_TEST(usable_cpus(inside) == usable_cpus(cgroup_of(Scratch(), "", "")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
