#pragma once

#include "core/json.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace headway::dashboard {

/// How much of a machine is in use, by all of its processes.
struct Use {
  std::optional<double> cpu_share;  ///< Of its CPUs, since the last look; unset at the first.
  std::optional<double> memory_bytes;
  std::optional<double> memory_total_bytes;
};
BOOST_DESCRIBE_STRUCT(Use, (), (cpu_share, memory_bytes, memory_total_bytes))

/// Looks at this machine, no more often than each five seconds. Used from one thread.
class MachineUse {
 public:
  const Use& look();

 private:
  void read_cpus(std::string_view stat);
  void read_memory(std::string_view meminfo);

  Use use_;
  std::optional<std::chrono::steady_clock::time_point> looked_at_;
  double busy_ = 0;
  double all_ = 0;
};

}  // namespace headway::dashboard
