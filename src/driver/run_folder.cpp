#include "driver/run_folder.hpp"

#include "core/location.hpp"
#include "storage/storage.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/stat.h>

namespace headway::driver {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

RunFolder::RunFolder(std::string location) : path_(std::move(location)), local_path_(path_) {
  if (is_remote(path_)) {
    Result<Staging> staging = Staging::make(StagingRoot::from_environment());
    if (staging) {
      local_path_ = staging->path();
      staging_.emplace(std::move(*staging));
      sync_.emplace(local_path_, path_);
    } else {
      no_staging_ = staging.error();
    }
  }
  results_ = std::make_unique<AppendFile>(local_path_ + "/result.json");
  views_ = std::make_unique<ReportViews>(local_path_);
}

RunFolder::~RunFolder() = default;

std::string RunFolder::checkpoint_path(const std::string& name) const { return join_location(path_, name); }

Result<void> RunFolder::prepare(const JsonObject& config) {
  if (no_staging_) return *no_staging_;
  // Remote storage that can't be reached is found out soonest by the probe, which has little patience.
  if (is_staged()) {
    if (auto ok = storage::probe(path_); !ok) return ok;
  }
  const auto found = storage::read_file(join_location(path_, "run.json"));
  if (found) {
    return Error{ErrorKind::already_exists,
                 "there is already a run in " + shown_location(path_) +
                     "; choose another RunConfig.name or storage_path, or remove that folder"};
  }
  if (is_staged() && found.error().kind != ErrorKind::not_found) return found.error();
  if (!is_staged()) {
    if (auto ok = storage::probe(path_); !ok) return ok;
  }
  if (mkdir((local_path_ + "/logs").c_str(), 0755) != 0 && errno != EEXIST) {
    return Error{ErrorKind::unavailable, "cannot make " + local_path_ + "/logs: " + std::strerror(errno)};
  }
  if (auto ok = storage::replace_file(local_path_ + "/params.json", json_text(config) + "\n"); !ok) return ok;
  return sync(true);
}

Result<void> RunFolder::append(const std::string& line) {
  last_line_ = line;
  return results_->append(line + "\n");
}

Result<void> RunFolder::write_journal(JsonObject snapshot) {
  snapshot["version"] = 1;
  snapshot["written_unix_s"] = unix_seconds();
  return storage::replace_file(join_location(path_, "run.json"), json_text(snapshot) + "\n");
}

Result<void> RunFolder::sync(bool everything) { return sync_ ? sync_->bring(everything) : Result<void>(); }

std::vector<std::string> RunFolder::close() {
  std::vector<std::string> warnings = views_->finish();
  if (const auto brought = sync(true); !brought) {
    warnings.push_back("not all of the run's files could be brought to storage: " + brought.error().message +
                       "; they are in " + staging_->keep());
  }
  sync_.reset();
  staging_.reset();
  return warnings;
}

}  // namespace headway::driver
