#pragma once

#include <headway/checkpoint.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>

#include <optional>
#include <vector>

namespace headway {

/// What `get_all_reported_checkpoints` waits for.
enum class CheckpointConsistencyMode {
  committed,  ///< That the checkpoints of all of this worker's reports are committed.
  validated   ///< And that no validation is left.
};

/// Where a checkpoint stands.
enum class ReportedCheckpointStatus {
  committed,           ///< It is stored, and nobody asked for a validation.
  pending_validation,  ///< It is stored, and a validation runs or waits.
  validated,           ///< The validation's metrics are among its own.
  validation_failed,   ///< The validation function threw, or its process died.
  validation_timeout   ///< The validation took longer than `ValidationTaskConfig::timeout_s`.
};

/// A checkpoint that is kept.
struct ReportedCheckpoint {
  Checkpoint checkpoint;
  Json metrics;  ///< Its report's, and over them those of its validation.
  ReportedCheckpointStatus status = ReportedCheckpointStatus::committed;
};

/// The run's checkpoints that are kept, those of earlier attempts too, oldest first. No barrier:
/// any rank may ask by itself. After `timeout_s` seconds (at least 0; none: as long as it takes) it
/// is what there is. Throws `BadResult` (`invalid_argument`) outside of a training loop and for a
/// bad time.
///
///     for (const headway::ReportedCheckpoint& each : headway::get_all_reported_checkpoints())
///       std::cout << each.checkpoint.path() << ' ' << each.metrics.dump() << '\n';
HEADWAY_API std::vector<ReportedCheckpoint> get_all_reported_checkpoints(
    CheckpointConsistencyMode mode = CheckpointConsistencyMode::validated,
    std::optional<double> timeout_s = std::nullopt);

}  // namespace headway
