#pragma once

#include <headway/config.hpp>

#include "core/json.hpp"
#include "core/labels.hpp"
#include "core/validation.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a user asks for, and the rules that hold for it in every front end. Front ends check types;
/// ranges and combinations are checked here, once. Every `validate` error is `invalid_argument` and
/// says: the argument, what was given, what is allowed.
namespace headway {

BOOST_DESCRIBE_STRUCT(ScalingConfig, (),
                      (num_workers, min_workers, use_gpu, resources_per_worker, trainer_resources, placement_strategy,
                       accelerator_type, label_selector, elastic_resize_monitor_interval_s))
BOOST_DESCRIBE_STRUCT(FailureConfig, (),
                      (max_failures, hang_warn_s, hang_fail_s, controller_failure_limit, max_preemption_failures,
                       preemption_grace_s))
BOOST_DESCRIBE_STRUCT(CheckpointConfig, (),
                      (num_to_keep, checkpoint_score_attribute, checkpoint_score_order, on_upload_failure))

/// `RunConfig`'s own part of a run's description, with nothing left to default.
struct RunPlace {
  std::string name;          ///< The run's folder below `storage_path`.
  std::string storage_path;  ///< A location (core/location.hpp).
};
BOOST_DESCRIBE_STRUCT(RunPlace, (), (name, storage_path))

BOOST_DESCRIBE_STRUCT(SyncConfig, (), (sync_period, sync_timeout, sync_artifacts, sync_artifacts_on_checkpoint))

/// All that a run is: what the controller decides by and what the driver carries out.
struct RunSpec {
  RunPlace run;
  ScalingConfig scaling;
  FailureConfig failure;
  CheckpointConfig checkpoint;
  std::string trainer = "DataParallelTrainer";  ///< For messages and the journal.
  std::string trial_id;                         ///< Stays the same over restarts.
  /// In local mode: how many processes, of torchrun's, are the ranks.
  int local_ranks = 1;
  /// Modules that the worker factory imports before it forks.
  std::vector<std::string> preload;
  /// The training function's configuration, for params.json.
  JsonObject config;
  SyncConfig sync;
  JsonObject metadata;      ///< The trainer's; in every checkpoint, and in the journal.
  bool log_to_file = true;  ///< Each rank's output in logs/ too.
  /// Of one file for both, or of standard output's and standard error's; in front of each stands
  /// "rank_<r>.". None: "log".
  std::optional<std::vector<std::string>> log_names;
  /// Ranks work in the run's directory, not in the driver's.
  bool enter_working_directory = true;
  /// A directory that the first attempt's get_checkpoint() gives.
  std::optional<std::string> resume_from_checkpoint;
  bool collectives = false;  ///< Whether its workers can say where they stand in their collectives.
  /// By metric, the value at which the run ends.
  std::optional<std::map<std::string, double>> stop;
  /// Reports that ranks may be ahead of the front end's callbacks; none: no callbacks.
  std::optional<int> callback_lag_max;
  ValidationSpec validation;
  /// Whether slots of CPUs alone are given back once every rank has returned. Otherwise they are
  /// once the processes are gone. No member that is described: each driver says it anew.
  bool returns_slots_early = false;
};
BOOST_DESCRIBE_STRUCT(RunSpec, (),
                      (run, scaling, failure, checkpoint, trainer, trial_id, local_ranks, preload, config, sync,
                       metadata, log_to_file, log_names, enter_working_directory, resume_from_checkpoint, collectives,
                       stop, callback_lag_max, validation))

Result<void> validate(const ScalingConfig& config);
Result<void> validate(const FailureConfig& config);
Result<void> validate(const CheckpointConfig& config);
Result<void> validate(const RunPlace& config);
Result<void> validate(const SyncConfig& config);
Result<void> validate(const ValidationSpec& config);
Result<void> validate(const ValidationTask& task);
Result<void> validate(const RunSpec& spec);

/// How many ranks the run has; of an elastic group, at most and at least.
int group_size(const RunSpec& spec);
int group_size_min(const RunSpec& spec);

/// What each worker claims: the named resources, one GPU with `use_gpu` where none is named, and an
/// implied CPU.
struct WorkerClaim {
  Resources hard;  ///< Never more of these than there are.
  /// 1 when the user named no CPU; 0 when CPU is among `hard`.
  double advised_cpus = 0;
  /// What its node matches: one for all workers, or one for each of them.
  std::vector<Labels> selectors = {};
};
WorkerClaim worker_claim(const ScalingConfig& config);
/// Whether workers claim nothing but CPUs, and nothing else is held beside them. What a process has
/// of other resources, such as a GPU's memory, it has until its end.
bool claims_cpus_alone(const ScalingConfig& config);
/// What a validation claims.
WorkerClaim worker_claim(const ValidationSpec& config);

/// "3" or "0.25", for messages.
std::string number_text(double number);

/// The resource that a node with accelerators of this type has 1 of, and that a worker which wants
/// them claims a little of.
std::string accelerator_resource(const std::string& type);

/// "{CPU: 2, GPU: 1}", for messages.
std::string resources_text(const Resources& resources);

}  // namespace headway
