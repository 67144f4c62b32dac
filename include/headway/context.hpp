#pragma once

#include <headway/checkpoint.hpp>
#include <headway/export.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headway {

/// Who a worker is. It stays the same as long as the process lives.
struct Context {
  int world_size = 1;                ///< Workers in the group.
  int world_rank = 0;                ///< This worker's rank: 0 to world_size - 1.
  int local_world_size = 1;          ///< Workers of the group on this node.
  int local_rank = 0;                ///< This worker's rank among them.
  int node_rank = 0;                 ///< This node's rank among the group's nodes.
  std::string node_ip;               ///< At which ranks of other nodes reach this one.
  int attempt = 1;                   ///< Which life of the worker group this is, from 1.
  int cpus = 1;                      ///< Threads that this worker should use.
  std::vector<std::string> gpu_ids;  ///< Its own devices, as CUDA_VISIBLE_DEVICES names them.
  std::vector<std::string>
      visible_gpus;  ///< CUDA_VISIBLE_DEVICES: those of the whole group on this node, in one order.
  std::string run_name;
  std::string run_directory;  ///< The run's folder.
  std::string trial_id;       ///< Stays the same over restarts.
  /// The directory that the run's ranks on this node share, a local path: the current one when the
  /// loop begins, unless HEADWAY_CHDIR_TO_TRIAL_DIR (or RAY_CHDIR_TO_TRIAL_DIR) of the driver's
  /// environment is 0. What is written there are the run's artifacts, which `SyncConfig` brings to
  /// its folder. Restarts on the node find it as it was.
  std::string trial_dir;
  std::string metadata_json;  ///< The trainer's metadata, a JSON object as text.
};

/// The worker's context. Throws `BadResult` (`invalid_argument`) outside of a training loop.
HEADWAY_API const Context& context();

/// What this process may use: `cpus`, `gpu_ids` and `visible_gpus` of a rank's context, and the
/// same for a process that validates a checkpoint, where the rest says nothing. Throws `BadResult`
/// (`invalid_argument`) in any other process, naming `caller`.
HEADWAY_API const Context& process_context(const char* caller = "headway::process_context()");

/// Whether this process is a worker: a rank, or one that validates a checkpoint.
HEADWAY_API bool in_worker();

/// The checkpoint to resume from: the newest committed one that this worker knows of, the trainer's
/// `resume_from_checkpoint`, or none. Throws `BadResult` (`invalid_argument`) outside of a training
/// loop.
HEADWAY_API std::optional<Checkpoint> get_checkpoint();

}  // namespace headway
