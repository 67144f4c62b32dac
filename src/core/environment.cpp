#include "core/environment.hpp"

#include <headway/config.hpp>

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace headway {
namespace {

std::optional<double> default_of(const char* variable, std::optional<double> otherwise) {
  const auto read = seconds_of_environment(variable, otherwise);
  return read ? *read : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Result<std::optional<double>> seconds_of_environment(const char* variable, std::optional<double> otherwise,
                                                     const char* zero) {
  const char* value = std::getenv(variable);
  const std::string_view text = trimmed(value == nullptr ? "" : value);
  if (text.empty()) return otherwise;
  double seconds = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  if (whole && seconds >= 0 && seconds <= 1e9) return std::optional(seconds);
  return Error{ErrorKind::invalid_argument,
               std::string(variable) + " is " + json_text(Json(boost::json::string(text))) +
                   " in the environment; allowed: 0 (" + zero + "), or seconds up to 1000000000"};
}

bool tells_of_a_task(std::string_view variable) {
  constexpr std::array names{"SLURM_PROCID",    "SLURM_LOCALID",      "SLURM_NODEID",
                             "SLURM_NPROCS",    "SLURM_GTIDS",        "SLURM_MPI_TYPE",
                             "SLURMD_NODENAME", "SLURM_DISTRIBUTION", "SLURM_CPU_FREQ_REQ"};
  constexpr std::array beginnings{"SLURM_NTASKS",   "SLURM_STEP",     "SLURM_TASK", "SLURM_SRUN_",
                                  "SLURM_CPU_BIND", "SLURM_MEM_BIND", "SLURM_PMI",  "SLURM_TOPOLOGY_ADDR",
                                  "SLURM_LAUNCH_",  "PMI_",           "PMIX_"};
  if (variable.starts_with("PMIX_MCA_")) return false;  // A user's own settings.
  return std::find(names.begin(), names.end(), variable) != names.end() ||
         std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const char* beginning) { return variable.starts_with(beginning); });
}

Result<double> notice_period_s() {
  constexpr double usual_s = 25;  // Slurm and Kubernetes kill 30 seconds after SIGTERM.
  const auto seconds = seconds_of_environment(notice_period_variable, usual_s, "at once");
  if (!seconds) return seconds.error();
  return **seconds;
}

Result<bool> works_in_trial_dir() {
  for (const char* variable : {"HEADWAY_CHDIR_TO_TRIAL_DIR", "RAY_CHDIR_TO_TRIAL_DIR"}) {
    const char* value = std::getenv(variable);
    const std::string_view text = trimmed(value == nullptr ? "" : value);
    if (text == "0" || text == "1") return text == "1";
    if (text.empty()) continue;
    return Error{ErrorKind::invalid_argument, std::string(variable) + " is " +
                                                  json_text(Json(boost::json::string(text))) +
                                                  " in the environment; allowed: 1 (default) or 0"};
  }
  return true;
}

std::optional<double> default_hang_warn_s() { return default_of(hang_warn_variable, 30); }

std::optional<double> default_hang_fail_s() { return default_of(hang_fail_variable, std::nullopt); }

}  // namespace headway
