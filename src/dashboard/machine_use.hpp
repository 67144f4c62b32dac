#pragma once

#include "core/json.hpp"
#include "dashboard/gpu_use.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace headway::dashboard {

/// How much of a machine is in use, by all of its processes.
struct Use {
  std::optional<double> cpu_share;  ///< Of its CPUs, since the last look; unset at the first.
  std::optional<double> memory_bytes;
  std::optional<double> memory_total_bytes;
  std::vector<GpuUse> gpus;
  std::string why_no_gpus;  ///< Nothing is known of GPUs because …
};
BOOST_DESCRIBE_STRUCT(Use, (), (cpu_share, memory_bytes, memory_total_bytes, gpus, why_no_gpus))

/// Looks at this machine, no more often than each five seconds. Used from one thread.
class MachineUse {
 public:
  const Use& look();

 private:
  void read_cpus(std::string_view stat);
  void read_memory(std::string_view meminfo);

  Use use_;
  GpuWatch gpus_;
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  double busy_ = 0;
  double all_ = 0;
};

}  // namespace headway::dashboard
