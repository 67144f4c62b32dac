#include "node/resource_ledger.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace headway::node {
namespace {

/// "A100" of "NVIDIA A100-SXM4-40GB" and "V100" of "Tesla V100-SXM2-16GB": the word after the
/// brand.
std::string accelerator_type(const std::string& model) {
  const std::size_t begin = model.find_first_not_of(' ', std::min(model.find(' '), model.size()));
  if (begin == std::string::npos) return "";
  std::size_t end = begin;
  while (end < model.size() && (std::isupper(static_cast<unsigned char>(model[end])) != 0 ||
                                std::isdigit(static_cast<unsigned char>(model[end])) != 0)) {
    ++end;
  }
  return model.substr(begin, end - begin);
}

/// The types of NVIDIA's devices, as their driver names them.
std::vector<std::string> accelerator_types() {
  std::vector<std::string> types;
  std::error_code ignored;
  for (const auto& device : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", ignored)) {
    std::ifstream file(device.path() / "information");
    constexpr std::string_view label = "Model:";
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with(label)) continue;
      const std::size_t begin = line.find_first_not_of(" \t", label.size());
      if (begin == std::string::npos) continue;
      if (std::string type = accelerator_type(line.substr(begin)); !type.empty()) types.push_back(std::move(type));
    }
  }
  return types;
}

}  // namespace

int usable_cpus(const std::string& cgroup) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  std::ifstream file(cgroup + "/cpu.max");
  std::string quota;  // Microseconds in each period, or "max".
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    cpus = std::min(cpus, static_cast<int>(std::strtod(quota.c_str(), nullptr) / period));
  }
  return std::max(cpus, 1);
}

std::int64_t usable_memory(const std::string& cgroup) {
  const auto machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  std::ifstream file(cgroup + "/memory.max");
  std::int64_t most = 0;  // "max": there is no limit.
  return file >> most && most > 0 ? std::min(machine, most) : machine;
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

NodeResources detect_resources(std::optional<double> num_cpus, std::optional<double> num_gpus, const Resources& extra,
                               Labels labels) {
  NodeResources node;
  node.labels = std::move(labels);
  std::array<char, 256> hostname{};
  gethostname(hostname.data(), hostname.size() - 1);
  node.hostname = hostname.data();
  node.total = extra;
  node.total["CPU"] = num_cpus.value_or(usable_cpus());
  node.total.try_emplace("memory", static_cast<double>(usable_memory()));
  node.gpu_ids = visible_gpus();
  if (num_gpus) {
    const auto wanted = static_cast<std::size_t>(*num_gpus);
    for (std::size_t next = node.gpu_ids.size(); next < wanted; ++next) node.gpu_ids.push_back(std::to_string(next));
    node.gpu_ids.resize(wanted);
  }
  if (!node.gpu_ids.empty()) {
    node.total["GPU"] = static_cast<double>(node.gpu_ids.size());
    for (const std::string& type : accelerator_types()) node.total.try_emplace(accelerator_resource(type), 1);
  }
  for (const auto& [name, amount] : node.total) {
    constexpr std::string_view prefix = "accelerator_type:";
    if (name.starts_with(prefix)) node.labels.try_emplace("headway.io/accelerator-type", name.substr(prefix.size()));
  }
  return node;
}

}  // namespace headway::node
