#pragma once

#include "core/config.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::node {

/// What a node has. Amounts of "CPU", "GPU", "memory" (bytes) and names that the user chose.
struct NodeResources {
  std::string node_id = "local";
  std::string hostname;
  std::string node_ip = "127.0.0.1";
  Resources total;
  /// As CUDA_VISIBLE_DEVICES names them; as many as "GPU" in `total`.
  std::vector<std::string> gpu_ids;
  Labels labels = {};
};
BOOST_DESCRIBE_STRUCT(NodeResources, (), (node_id, hostname, node_ip, total, gpu_ids, labels))

/// The NVIDIA devices that this process sees, as CUDA_VISIBLE_DEVICES names them, or would.
std::vector<std::string> visible_gpus();

/// Where the kernel shows control groups, and which of them are this process's.
struct ControlGroups {
  std::string mount = "/sys/fs/cgroup";
  std::string own = "/proc/self/cgroup";
};

/// CPUs that this process may use: those of its affinity, and no more than the quotas of its
/// control groups and of those around them, such as a Slurm job's, rounded down. 1 at least.
int usable_cpus(const ControlGroups& groups = {});
/// Bytes of memory: the machine's, and no more than the limits of the control groups.
std::int64_t usable_memory(const ControlGroups& groups = {});

/// This machine: CPUs that this process may use (affinity and cgroup quota), memory, visible GPUs.
/// `num_cpus`, `num_gpus` and `extra` replace or add to what was found. Its labels are those given,
/// and its accelerator's.
NodeResources detect_resources(std::optional<double> num_cpus, std::optional<double> num_gpus, const Resources& extra,
                               Labels labels = {});

/// A part of what a node has.
struct Share {
  Resources amounts;
  std::vector<double> gpus;  ///< The part of each device.

  /// How many workers, up to `workers`, could have `each` out of it at once.
  int capacity(int workers, const Resources& each) const;
  void add(const Share& other);
  void subtract(const Share& other);
};

/// What some workers were given.
struct TakenShare {
  Share share;
  std::vector<std::vector<std::size_t>> gpus_of;  ///< By worker, its devices.
};

/// Takes it out of `free`; nullopt when not all can have `each`, and then nothing is taken.
std::optional<TakenShare> take(Share& free, int workers, const Resources& each);

/// Who holds how much of a node. Named resources are hard; the CPU that a worker implies is advice
/// and never refused.
class ResourceLedger {
 public:
  explicit ResourceLedger(NodeResources node);

  /// How many claims, up to `workers`, could be met at once now.
  int capacity_now(int workers, const WorkerClaim& claim) const { return capacity(free_, workers, claim); }
  /// The same if `free` were what is free here.
  int capacity(const Share& free, int workers, const WorkerClaim& claim) const;

  /// Slots for all `workers`, or nullopt when that much is not free now. A holder may claim more
  /// than once.
  std::optional<std::vector<Slot>> claim(std::int64_t holder, int workers, const WorkerClaim& claim);

  /// Gives back what `holder` has; false when that is nothing.
  bool release(std::int64_t holder);

  const NodeResources& node() const { return node_; }
  const Resources& available() const { return free_.amounts; }
  bool is_idle() const { return holds_.empty(); }

  const Share& free() const { return free_; }
  const Share& free_if_all_released() const { return all_; }
  /// nullopt: as now, since this holder has nothing here.
  std::optional<Share> free_if_released(std::int64_t holder) const;
  Share free_if_others_released(std::int64_t holder) const;

 private:
  /// Whether any worker may come here.
  bool is_meant(const WorkerClaim& claim) const;

  NodeResources node_;
  Share all_;
  Share free_;
  std::map<std::int64_t, Share> holds_;  ///< By holder, what it has taken.
};

}  // namespace headway::node
