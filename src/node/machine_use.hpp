#pragma once

#include "core/config.hpp"
#include "core/json.hpp"
#include "node/gpu_use.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headway::node {

/// How much of a machine is in use, by all of its processes.
struct Use {
  std::optional<double> cpu_share;  ///< Of its CPUs, since the last look; unset at the first.
  std::optional<double> memory_bytes;
  std::optional<double> memory_total_bytes;
  std::vector<GpuUse> gpus;
  std::string why_no_gpus;  ///< Nothing is known of the node's GPUs because …
};
BOOST_DESCRIBE_STRUCT(Use, (), (cpu_share, memory_bytes, memory_total_bytes, gpus, why_no_gpus))

/// Whether a node of these amounts has GPUs to look at.
bool has_gpus(const Resources& total);

/// Looks at this machine. Used by one thread at a time.
class MachineUse {
 public:
  /// `proc`: the folder in which the kernel tells.
  explicit MachineUse(std::string proc = "/proc") : proc_(std::move(proc)) {}

  const Use& look(bool with_gpus);

 private:
  void read_cpus(std::string_view stat);
  void read_memory(std::string_view meminfo);

  std::string proc_;
  Use use_;
  GpuWatch gpus_;
  double busy_ = 0;
  double all_ = 0;
};

}  // namespace headway::node
