#include "node/machine_use.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace headway::node {
namespace {

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

bool has_gpus(const Resources& total) {
  const auto gpus = total.find("GPU");
  return gpus != total.end() && gpus->second > 0;
}

const Use& MachineUse::look(bool with_gpus) {
  read_cpus(text_in(proc_ + "/stat"));
  read_memory(text_in(proc_ + "/meminfo"));
  if (with_gpus) {
    use_.gpus = gpus_.look(std::chrono::steady_clock::now());
    use_.why_no_gpus = gpus_.why_none();
  }
  return use_;
}

/// "cpu  user nice system idle iowait irq softirq steal": ticks since the machine's start.
void MachineUse::read_cpus(std::string_view stat) {
  std::istringstream line{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  line >> name;
  double all = 0;
  double idle = 0;
  double ticks = 0;
  constexpr int fields = 8;
  for (int field = 0; field < fields && line >> ticks; ++field) {
    all += ticks;
    if (field == 3 || field == 4) idle += ticks;
  }
  // The kernel's counts of waiting may go back, and a share outside of these is no sound message.
  if (all_ > 0 && all > all_) use_.cpu_share = std::clamp((all - idle - busy_) / (all - all_), 0.0, 1.0);
  busy_ = all - idle;
  all_ = all;
}

void MachineUse::read_memory(std::string_view meminfo) {
  std::istringstream lines{std::string(meminfo)};
  std::string name;
  double kilobytes = 0;
  std::string rest;
  std::optional<double> total;
  std::optional<double> available;
  while (lines >> name >> kilobytes && std::getline(lines, rest)) {
    if (name == "MemTotal:") total = kilobytes * 1024;
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  use_.memory_total_bytes = total;
  if (total && available) use_.memory_bytes = *total - *available;
}

}  // namespace headway::node
