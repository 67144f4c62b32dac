#pragma once

#include <headway/result.hpp>

#include <optional>
#include <string_view>

/// Defaults that the environment of the driver may set, for every front end. The names of the time
/// limits:
namespace headway {

inline constexpr const char* hang_warn_variable = "HEADWAY_HANG_WARN_S";
inline constexpr const char* hang_fail_variable = "HEADWAY_HANG_FAIL_S";
inline constexpr const char* notice_period_variable = "HEADWAY_NOTICE_PERIOD_S";

/// Seconds that a variable says; `otherwise` when it is not set, or blank. Errors:
/// `invalid_argument`, naming the variable and what `zero` seconds mean, for anything but a number
/// from 0 to 1000000000.
Result<std::optional<double>> seconds_of_environment(const char* variable, std::optional<double> otherwise,
                                                     const char* zero = "never");

/// How many seconds a driver's ranks have after it received SIGTERM. Errors: those of
/// seconds_of_environment.
Result<double> notice_period_s();

/// Whether ranks leave the driver's working directory for one of the run: not with
/// HEADWAY_CHDIR_TO_TRIAL_DIR=0, or RAY_CHDIR_TO_TRIAL_DIR=0 where that is not set. Errors:
/// `invalid_argument`, naming the variable, for anything but 0, 1 and blank.
Result<bool> works_in_trial_dir();

/// Whether a variable tells a process which task of a job it is: what Slurm and PMI set for what
/// `srun` starts, and what names the node where it was started. A driver that is such a task, or
/// runs in a job's script, has them. Its ranks do not get them, because frameworks (Lightning,
/// Accelerate, JAX, MPI) would take a rank for that task. What tells of the job stays.
bool tells_of_a_task(std::string_view variable);

}  // namespace headway
