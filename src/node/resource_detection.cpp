#include "node/resource_ledger.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
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

/// The folders of the control groups that limit this process, in version 2 and of a controller of
/// version 1: its own and those around it. In a container the mount's root is its own.
std::vector<std::string> folders_of(const ControlGroups& groups, const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream own(groups.own);
  for (std::string line; std::getline(own, line);) {  // "4:cpu,cpuacct:/job", "0::/job"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(":/", first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_unified = controllers == ",,";
    if (!is_unified && controllers.find("," + controller + ",") == std::string::npos) continue;
    const std::string root = groups.mount + (is_unified ? "" : "/" + controller);
    for (std::string path = line.substr(second + 1); path.size() > 1; path.resize(path.rfind('/'))) {
      folders.push_back(root + path);
    }
  }
  folders.push_back(groups.mount);
  folders.push_back(groups.mount + "/" + controller);
  return folders;
}

/// A file's number; nothing where there is none, such as in "max".
std::optional<double> number_in(const std::string& file) {
  std::ifstream opened(file);
  double number = 0;
  return opened >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

int usable_cpus(const ControlGroups& groups) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  for (const std::string& folder : folders_of(groups, "cpu")) {
    double quota = 0;  // Microseconds in each period; "max" or below 0: there is none.
    double period = 0;
    std::ifstream file(folder + "/cpu.max");
    if (!(file >> quota >> period)) {
      quota = number_in(folder + "/cpu.cfs_quota_us").value_or(0);
      period = number_in(folder + "/cpu.cfs_period_us").value_or(0);
    }
    if (quota > 0 && period > 0) cpus = std::min(cpus, static_cast<int>(quota / period));
  }
  return std::max(cpus, 1);
}

std::int64_t usable_memory(const ControlGroups& groups) {
  auto usable = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  for (const std::string& folder : folders_of(groups, "memory")) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {
      const double most = number_in(folder + file).value_or(0);
      if (most > 0 && most < static_cast<double>(usable)) usable = static_cast<std::int64_t>(most);
    }
  }
  return usable;
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
