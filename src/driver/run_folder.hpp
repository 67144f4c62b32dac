#pragma once

#include "control/run_outcome.hpp"
#include "core/json.hpp"

#include <cstdio>
#include <string>

namespace headway::driver {

/// A run's folder on storage: result.json, run.json, logs/ and the checkpoints. Used from one storage strand; every call may block.
class RunFolder {
 public:
  RunFolder(std::string path, std::string trial_id) : path_(std::move(path)), trial_id_(std::move(trial_id)) {}
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string checkpoint_path(const std::string& name) const { return path_ + "/" + name; }
  std::string log_path(int rank) const { return path_ + "/logs/rank_" + std::to_string(rank) + ".log"; }

  /// Makes the folder, proves that it can be written, and writes params.json.
  /// Errors: `already_exists` when an earlier run is there, `unavailable`.
  Result<void> prepare(const JsonObject& config);

  /// Adds a line to result.json; it survives the death of this process from then on.
  Result<void> append(const std::string& line);

  /// Replaces run.json durably.
  Result<void> write_journal(JsonObject snapshot);

 private:
  std::string path_;
  std::string trial_id_;
  int result_fd_ = -1;
};

/// A report as one line of result.json: the user's metrics, and beside them the automatic ones.
JsonObject result_line(const control::ReportLine& line, const std::string& trial_id);

}  // namespace headway::driver
