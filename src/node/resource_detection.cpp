#include "node/resource_ledger.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>

namespace headway::node {
namespace {

/// CPUs of the cgroup's quota ("max 100000" means none), rounded down; 0 when there is none.
double cgroup_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double usable_cpus() {
  cpu_set_t set;
  double cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const double quota = cgroup_cpus();
  if (quota > 0) cpus = std::min(cpus, std::max(1.0, static_cast<double>(static_cast<int>(quota))));
  return cpus;
}

std::vector<std::string> visible_gpus() {
  std::vector<std::string> ids;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream list(visible);
    for (std::string id; std::getline(list, id, ',');) {
      if (!id.empty() && id != "-1") ids.push_back(id);
    }
    return ids;
  }
  std::error_code ignored;
  for (int i = 0; std::filesystem::exists("/dev/nvidia" + std::to_string(i), ignored); ++i)
    ids.push_back(std::to_string(i));
  return ids;
}

}  // namespace

NodeResources detect_resources(std::optional<double> num_cpus, std::optional<double> num_gpus, const Resources& extra) {
  NodeResources node;
  std::array<char, 256> hostname{};
  gethostname(hostname.data(), hostname.size() - 1);
  node.hostname = hostname.data();
  node.total = extra;
  node.total["CPU"] = num_cpus.value_or(usable_cpus());
  node.total.try_emplace("memory",
                         static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)));
  node.gpu_ids = visible_gpus();
  if (num_gpus) {
    const auto wanted = static_cast<std::size_t>(*num_gpus);
    for (std::size_t next = node.gpu_ids.size(); next < wanted; ++next) node.gpu_ids.push_back(std::to_string(next));
    node.gpu_ids.resize(wanted);
  }
  if (!node.gpu_ids.empty()) node.total["GPU"] = static_cast<double>(node.gpu_ids.size());
  return node;
}

}  // namespace headway::node
