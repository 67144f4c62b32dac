#pragma once

#include <headway/export.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a run is asked to do. All of these are aggregates for designated initialisers; a field that
/// is not named keeps its default. Ranges and combinations are checked by `Trainer::fit` before
/// anything starts: an error of the kind `invalid_argument` names the field, what was given and
/// what is allowed.
namespace headway {

/// Amounts by resource name: "CPU", "GPU", or any other name. Amounts are finite and not negative.
using Resources = std::map<std::string, double>;

/// What is said of nodes by name, such as {{"region", "eu"}}.
using Labels = std::map<std::string, std::string>;

/// How many workers, and what each may use.
///
///     headway::ScalingConfig scaling{.num_workers = 4, .resources_per_worker = {{{"CPU", 2}}}};
struct ScalingConfig {
  int num_workers = 1;  ///< Worker processes, one rank each: 1 to 1 000 000.
  /// Makes the group elastic: it starts with as many workers as there is room for, from
  /// `min_workers` (1 to `num_workers`) to `num_workers`, shrinks when a node goes, and grows when
  /// there is room for more.
  std::optional<int> min_workers = std::nullopt;
  /// Each worker gets a GPU (one, unless `resources_per_worker` says how many).
  bool use_gpu = false;
  /// Hard limits: a run waits until they are free, and one that can never have them is refused.
  /// Without "CPU" a worker counts as one CPU, as advice only: more workers than CPUs start with a
  /// warning.
  std::optional<Resources> resources_per_worker = std::nullopt;
  std::optional<Resources> trainer_resources =
      std::nullopt;  ///< Held by the run beside its workers, on one node; hard.
  /// "PACK" (default: few nodes), "SPREAD" (many), "STRICT_PACK" (one, or none) or "STRICT_SPREAD"
  /// (one each, or none).
  std::optional<std::string> placement_strategy = std::nullopt;
  std::optional<std::string> accelerator_type =
      std::nullopt;  ///< Workers' nodes have GPUs of this kind, such as "A100".
  /// Which nodes workers may be on: one selector for all of them, or one a worker. Values are "x",
  /// "!x", "in(x, y)" or "!in(x, y)".
  std::optional<std::vector<Labels>> label_selector = std::nullopt;
  /// Seconds, at least, from the start of an elastic group until it is ended so that a larger one
  /// may replace it.
  double elastic_resize_monitor_interval_s = 60;
};

/// Seconds that HEADWAY_HANG_WARN_S of the environment says (0: never), else 30. Not a number where
/// it says something else: then `Trainer::fit` names the variable.
HEADWAY_API std::optional<double> default_hang_warn_s();

/// Seconds that HEADWAY_HANG_FAIL_S of the environment says (0: never), else none; as above.
HEADWAY_API std::optional<double> default_hang_fail_s();

/// How many failures of each kind a run survives. Each restart resumes from the newest committed
/// checkpoint; -1: no limit.
///
///     headway::FailureConfig failure{.max_failures = 3, .hang_warn_s = 60, .hang_fail_s = 600};
struct FailureConfig {
  /// Restarts after a failure of the training function, of a worker process or of a node.
  int max_failures = 0;
  /// Seconds that ranks wait for others before a warning says for whom, and what those are doing;
  /// none or 0: never, at most 1e9.
  std::optional<double> hang_warn_s = default_hang_warn_s();
  /// Seconds after which the attempt is ended for it, which counts as a failure; none or 0: never,
  /// at most 1e9.
  std::optional<double> hang_fail_s = default_hang_fail_s();
  /// Restarts of a group that could not be started again after an earlier one had trained: a
  /// process that ended, or a node that went, before the training function was called.
  int controller_failure_limit = -1;
  int max_preemption_failures = -1;  ///< Restarts because a node was taken away with notice.
  /// Seconds that the other ranks may go on after that node's deadline.
  double preemption_grace_s = 0;
};

/// Which checkpoints are kept. The newest is kept whatever its score, since a restart resumes from
/// it.
struct CheckpointConfig {
  std::optional<int> num_to_keep = std::nullopt;  ///< At least 1; none: keep all.
  /// The metric that ranks them, '/' between nested keys ("eval/loss"); none: the newer ranks
  /// higher. A missing or NaN score ranks last.
  std::optional<std::string> checkpoint_score_attribute = std::nullopt;
  std::string checkpoint_score_order = "max";  ///< "max" or "min".
  /// When a checkpoint cannot be stored, after all retries: "raise" fails its report in every rank;
  /// "warn" drops the checkpoint with a warning, and its report counts without it.
  std::string on_upload_failure = "raise";
};

/// When what the ranks write into their working directory (`Context::trial_dir`) is brought to
/// `artifacts/` in the run's folder. Each copy brings what is new or has changed since the one
/// before, beside the training; nothing is deleted there. One that fails or takes too long is
/// warned of, and ends no run.
///
///     headway::RunConfig run{.name = "digits", .sync = {.sync_period = 60, .sync_artifacts = true}};
struct SyncConfig {
  double sync_period = 300;  ///< Seconds between two copies: above 0, at most ten years.
  /// Seconds that a copy may take before it is stopped: above 0, at most ten years.
  double sync_timeout = 1800;
  /// Whether there are copies at all. The last one is made when the ranks have ended; after it the
  /// working directory is removed.
  bool sync_artifacts = false;
  bool sync_artifacts_on_checkpoint = true;  ///< Whether each committed checkpoint begins one too.
};

/// Where a run's results go, and how it deals with failures, checkpoints and artifacts.
///
///     headway::RunConfig run{.name = "digits", .failure = {.max_failures = 2}, .checkpoint = {.num_to_keep = 3}};
struct RunConfig {
  /// The run's folder below `storage_path`; empty: "Trainer_" with date and time.
  std::string name = "";
  /// A folder on a local or mounted file system, or a URL (s3://bucket/runs); empty:
  /// HEADWAY_STORAGE or RAY_STORAGE of the environment, else ~/headway_results.
  std::string storage_path = "";
  FailureConfig failure = {};
  CheckpointConfig checkpoint = {};
  SyncConfig sync = {};
};

}  // namespace headway
