#include <headway/reported_checkpoints.hpp>

#include "library/committed_checkpoint.hpp"
#include "library/worker_bridge.hpp"

#include <map>
#include <string>

namespace headway {
namespace {

/// By the names that the driver gives them.
const std::map<std::string, ReportedCheckpointStatus> statuses{
    {"COMMITTED", ReportedCheckpointStatus::committed},
    {"PENDING_VALIDATION", ReportedCheckpointStatus::pending_validation},
    {"VALIDATED", ReportedCheckpointStatus::validated},
    {"VALIDATION_FAILED", ReportedCheckpointStatus::validation_failed},
    {"VALIDATION_TIMEOUT", ReportedCheckpointStatus::validation_timeout},
};

}  // namespace

std::vector<ReportedCheckpoint> get_all_reported_checkpoints(CheckpointConsistencyMode mode,
                                                             std::optional<double> timeout_s) {
  using namespace library;
  if (worker_context() == nullptr) throw BadResult(outside_of_loop("headway::get_all_reported_checkpoints()"));
  const bool is_time = !timeout_s || (*timeout_s >= 0 && *timeout_s <= 1e9);  // NaN is none.
  if (!is_time) {
    throw BadResult({ErrorKind::invalid_argument, "timeout_s is " + Json(*timeout_s).dump() +
                                                      "; allowed: none, or seconds from 0 up to 1000000000"});
  }
  std::vector<ReportedCheckpoint> checkpoints;
  for (const ToldCheckpoint& told :
       worker_checkpoints(mode == CheckpointConsistencyMode::validated, timeout_s).value()) {
    checkpoints.push_back(
        {open_or_name(told.directory), Json::parse(told.metrics_json).value(), statuses.at(told.status)});
  }
  return checkpoints;
}

}  // namespace headway
