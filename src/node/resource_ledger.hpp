#pragma once

#include "core/config.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::node {

/// What a node has. Amounts of "CPU", "GPU", "memory" (bytes) and names of the user's own.
struct NodeResources {
  std::string node_id = "local";
  std::string hostname;
  std::string node_ip = "127.0.0.1";
  Resources total;
  std::vector<std::string> gpu_ids;  ///< As CUDA_VISIBLE_DEVICES names them; as many as "GPU" in `total`.
  Labels labels = {};
};
BOOST_DESCRIBE_STRUCT(NodeResources, (), (node_id, hostname, node_ip, total, gpu_ids, labels))

/// This machine: CPUs that this process may use (affinity and cgroup quota), memory, NVIDIA devices (CUDA_VISIBLE_DEVICES is
/// honoured). `num_cpus`, `num_gpus` and `extra` replace or add to what was found. Its labels are those given, and its accelerator's.
NodeResources detect_resources(std::optional<double> num_cpus, std::optional<double> num_gpus, const Resources& extra,
                               Labels labels = {});

/// Who holds how much of a node. Named resources are hard; the CPU that a worker implies is advice and never refused.
class ResourceLedger {
 public:
  explicit ResourceLedger(NodeResources node);

  /// How many claims, up to `workers`, could be met at once now.
  int room_now(int workers, const WorkerClaim& claim) const;

  /// Slots for all `workers`, or nullopt when that much is not free now. A holder may claim more than once.
  std::optional<std::vector<Slot>> claim(std::int64_t holder, int workers, const WorkerClaim& claim);

  /// Gives back what `holder` has; false when that is nothing.
  bool release(std::int64_t holder);
  /// All others give back what they have.
  void keep_only(std::int64_t holder);

  const NodeResources& node() const { return node_; }
  const Resources& available() const { return free_; }

 private:
  struct Hold {
    Resources amounts;
    std::vector<double> gpus;  ///< Amount by device.
  };

  /// Whether any worker may come here.
  bool is_meant(const WorkerClaim& claim) const;

  /// Devices for one worker out of `free`; nullopt when there are none.
  static std::optional<std::vector<std::size_t>> pick_gpus(double amount, std::vector<double>& free);

  NodeResources node_;
  Resources free_;
  std::vector<double> gpus_free_;
  std::map<std::int64_t, Hold> holds_;
};

}  // namespace headway::node
