#pragma once

#include "core/json.hpp"
#include "driver/append_file.hpp"
#include "driver/report_views.hpp"

#include <string>

namespace headway::driver {

/// A run's folder on storage: what it says of its reports, run.json, logs/ and the checkpoints. Used from one storage strand; every call may block.
class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)), results_(path_ + "/result.json"), views_(path_) {}

  const std::string& path() const { return path_; }
  std::string checkpoint_path(const std::string& name) const { return path_ + "/" + name; }
  std::string log_path(int rank) const { return path_ + "/logs/rank_" + std::to_string(rank) + ".log"; }

  /// Makes the folder, proves that it can be written, and writes params.json.
  /// Errors: `already_exists` when an earlier run is there, `unavailable`.
  Result<void> prepare(const JsonObject& config);

  /// Adds a line to result.json; it survives the death of this process from then on.
  Result<void> append(const std::string& line);

  /// What is written from result.json for other programs. Its line is there before a report is shown to them.
  ReportViews& views() { return views_; }

  /// Replaces run.json durably.
  Result<void> write_journal(JsonObject snapshot);

 private:
  std::string path_;
  AppendFile results_;
  ReportViews views_;
};

}  // namespace headway::driver
