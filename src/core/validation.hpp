#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

/// Validation of checkpoints beside the training: what is asked for, how it is run, and where a
/// checkpoint stands in it.
namespace headway {

/// What rank 0 asks for with a report.
struct ValidationTask {
  /// As the trainer's ValidationConfig has it: no other arguments and no other time limit.
  bool as_configured = true;
  JsonObject arguments;  ///< Over the trainer's; as the front end that made them reads them.
  /// Seconds that the function may take; none: as long as it likes.
  std::optional<double> timeout_s;
  /// The older form: a function with its configuration, pickled, in base64, instead of the
  /// trainer's.
  std::optional<std::string> call;
};
BOOST_DESCRIBE_STRUCT(ValidationTask, (), (as_configured, arguments, timeout_s, call))

/// The trainer's part: how its validations are run.
struct ValidationSpec {
  bool has_function = false;        ///< Else only tasks that bring their own can be run.
  std::optional<double> timeout_s;  ///< Of tasks that are as configured.
  int max_concurrent = 1;           ///< Validations that run at once.
  std::string order = "oldest";     ///< Which of those that wait is next: "oldest" or "newest".
  int max_retries = 3;              ///< How often one is begun again whose process has died.
  std::map<std::string, double>
      resources;  ///< What each claims; hard limits, as with ScalingConfig.resources_per_worker.
};
BOOST_DESCRIBE_STRUCT(ValidationSpec, (), (has_function, timeout_s, max_concurrent, order, max_retries, resources))

/// Where a checkpoint stands. The names are those of ReportedCheckpointStatus.
enum class CheckpointStatus {
  COMMITTED,           ///< Nobody asked for a validation.
  PENDING_VALIDATION,  ///< One runs or waits.
  VALIDATED,           ///< Its metrics count.
  VALIDATION_FAILED,
  VALIDATION_TIMEOUT
};
BOOST_DESCRIBE_ENUM(CheckpointStatus, COMMITTED, PENDING_VALIDATION, VALIDATED, VALIDATION_FAILED, VALIDATION_TIMEOUT)

}  // namespace headway
