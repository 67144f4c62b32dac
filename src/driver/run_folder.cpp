#include "driver/run_folder.hpp"

#include "core/fault_point.hpp"
#include "core/location.hpp"
#include "core/manifest.hpp"
#include "driver/found_run.hpp"
#include "driver/run_history.hpp"
#include "driver/unix_time.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::driver {
namespace {

constexpr const char* status_file = "status.json";
/// What status.json holds. Its reader asks whether the driver lives: a run that does not change is
/// not written again.
struct Status {
  std::string owner;  ///< As run.json has it.
  std::string host;
  node::ProcessIdentity driver;
  control::RunView view;
  engine::EngineView engine;  ///< The driver's; its first nodes.
  std::int64_t nodes_count = 0;
};
BOOST_DESCRIBE_STRUCT(Status, (), (owner, host, driver, view, engine, nodes_count))

constexpr std::size_t unwritten_bytes_max = std::size_t{16} << 20;

}  // namespace

RunFolder::RunFolder(std::string location, bool durable)
    : durable_(durable || is_remote(location)), path_(std::move(location)), local_path_(path_) {
  if (is_remote(path_)) {
    Result<Staging> staging = Staging::make(StagingRoot::from_environment(), path_);
    if (staging) {
      local_path_ = staging->path();
      staging_.emplace(std::move(*staging));
      sync_.emplace(local_path_, path_);
    } else {
      no_staging_ = staging.error();
    }
  }
  close_files();
}

RunFolder::~RunFolder() = default;

/// Those that grow are open from their first line on, and this object may be held longer than the
/// run.
void RunFolder::close_files() {
  results_ = std::make_unique<AppendFile>(local_path_ + "/result.json");
  history_ = std::make_unique<AppendFile>(local_path_ + "/" + history_file);
  views_ = std::make_unique<ReportViews>(local_path_);
}

std::string RunFolder::checkpoint_path(const std::string& name) const { return join_location(path_, name); }

/// Files on a local (or mounted) file system can be locked.
Result<void> RunFolder::take_lock(Owner owner, std::vector<std::string>& warnings) {
  const auto made = durable_ ? storage::make_directories(path_) : storage::make_directory(path_);
  Result<RunLock> lock = made ? RunLock::take(path_, std::move(owner)) : made.error();
  if (!lock && lock.error().kind == ErrorKind::already_exists) return lock.error();
  // The error says that a folder can't be written before anything else that is wrong with it.
  if (auto probed = durable_ ? storage::probe(path_) : Result<void>(); !probed) return probed;
  if (!lock) return lock.error();
  lock_.emplace(std::move(*lock));
  if (const auto& reason = lock_->unlocked_reason()) {
    warnings.push_back("the file system of " + path_ + " cannot lock files (" + *reason +
                       "): a second driver on this run would be noticed at a commit only");
  }
  return {};
}

Result<RunFolder::Prepared> RunFolder::prepare(const JsonObject& config, const wire::Blob& trainer, Owner owner) {
  if (no_staging_) return *no_staging_;
  Prepared prepared;
  owner_ = owner;
  // Remote storage that can't be reached is found out soonest by the probe, which has little
  // patience.
  if (auto ok = is_staged() ? storage::probe(path_) : take_lock(std::move(owner), prepared.warnings); !ok)
    return ok.error();
  is_ours_ = true;
  Result<std::optional<control::FoundRun>> found = find_run(path_, local_path_, prepared.warnings, durable_);
  if (!found) return found.error();
  prepared.found = std::move(*found);
  if (prepared.found) last_line_ = prepared.found->results.last_line;
  fault_point("prepare.found");
  if (mkdir((local_path_ + "/logs").c_str(), 0755) != 0 && errno != EEXIST) {
    return Error{ErrorKind::unavailable, "cannot make " + local_path_ + "/logs: " + std::strerror(errno)};
  }
  if (auto ok = replace("params.json", json_text(config) + "\n"); !ok) return ok.error();
  if (trainer) {
    if (auto ok = storage::replace_file(local_path_ + "/trainer.pkl", *trainer); !ok) return ok.error();
  }
  if (auto ok = sync(true); !ok) return ok.error();
  return prepared;
}

Result<void> RunFolder::check_in_place() const {
  if (!is_gone_ && (!lock_ || lock_->in_place())) return {};
  return Error{ErrorKind::not_found,
               "the run's folder " + shown_location(path_) +
                   " was deleted or moved while the run went on: nothing that it reports can be kept"};
}

/// Where files can't be locked, or not between machines, a second driver may have taken the run up
/// meanwhile. It has written so in run.json before anything else.
Result<void> RunFolder::check_owner(std::int64_t epoch) {
  if (auto in_place = check_in_place(); !in_place || !durable_) return in_place;
  const Result<control::Journal> there = read_journal(path_);
  if (!there) {
    // None: the first driver's first journal is to come, or the folder is gone.
    is_gone_ = has_journal_ && is_staged() && there.error().kind == ErrorKind::not_found;
    return check_in_place();
  }
  if (there->owner_epoch < epoch || (there->owner_epoch == epoch && there->owner == to_text(owner_))) return {};
  return Error{ErrorKind::superseded, "another driver has taken this run over: " + there->owner + " (epoch " +
                                          std::to_string(there->owner_epoch) + "; this driver's is " +
                                          std::to_string(epoch) + "). This one writes nothing more to " +
                                          shown_location(path_)};
}

Result<void> RunFolder::commit(const Manifest& manifest, CheckpointSource source) {
  if (auto owned = check_owner(manifest.owner_epoch); !owned) return owned;
  const std::string directory = checkpoint_path(manifest.checkpoint);
  return source == CheckpointSource::files ? storage::commit(directory, manifest)
                                           : storage::commit_placed(directory, manifest);
}

std::vector<std::string> RunFolder::append(const std::string& line) {
  last_line_ = line;
  unwritten_ += line + "\n";
  const Result<void> appended = results_->append(unwritten_);
  if (appended) unwritten_.clear();
  for (; unwritten_.size() > unwritten_bytes_max; ++lines_lost_) unwritten_.erase(0, unwritten_.find('\n') + 1);
  if (appended || std::exchange(told_unwritten_, true)) return {};
  return {"a report is not in result.json yet: " + appended.error().message +
          "; of others there is no further word until the end"};
}

Result<void> RunFolder::write_journal(control::Journal snapshot) {
  owner_epoch_ = snapshot.owner_epoch;
  if (auto owned = check_owner(owner_epoch_); !owned) return owned;
  snapshot.owner = to_text(owner_);
  snapshot.written_unix_s = unix_seconds();
  fault_point("journal.begin");
  const std::string text = to_json_text(snapshot) + "\n";
  auto written = durable_ ? storage::replace_file(join_location(path_, "run.json"), text) : replace("run.json", text);
  has_journal_ = has_journal_ || written;
  fault_point("journal.end");
  return written;
}

void RunFolder::write_status(const control::RunView& view, const ShownEngine& engine) {
  replace_small_file(status_file, to_json_text(Status{to_text(owner_), owner_.host, owner_.driver, view, engine.view,
                                                      engine.nodes_count}));
}

void RunFolder::write_step_times(const control::AttemptTimes& times) {
  replace_small_file("step_times_" + std::to_string(times.attempt) + ".json", to_json_text(times));
}

void RunFolder::write_data_times(const control::DataTimes& times) {
  replace_small_file("data_waits.json", to_json_text(times));
}

void RunFolder::append_history(const std::string& lines) {
  if (!closed_ && is_ours_) (void)history_->append(lines);
}

/// On the local side; it survives the death of this process, and that of the machine where the
/// folder is durable.
Result<void> RunFolder::replace(const std::string& name, const std::string& text) {
  const std::string path = local_path_ + "/" + name;
  if (durable_) return storage::replace_file(path, text);
  const std::string fresh = local_path_ + "/" + std::string(part_prefix) + name;
  (void)unlink(fresh.c_str());
  if (Result<void> written = AppendFile(fresh).append(text); !written) return written;
  fault_point("replace.written");
  return storage::rename_path(fresh, path, true);
}

/// On the local side, without a word when it fails: nothing depends on it.
void RunFolder::replace_small_file(const std::string& name, const std::string& text) {
  if (closed_ || !is_ours_) return;
  const std::string path = local_path_ + "/" + name;
  const std::string fresh = local_path_ + "/" + std::string(part_prefix) + name;
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << text << '\n';
  file.close();
  if (file) (void)rename(fresh.c_str(), path.c_str());
}

Result<void> RunFolder::sync(bool everything) {
  if (!sync_) return {};
  if (owner_epoch_ > 0) {
    if (auto owned = check_owner(owner_epoch_); !owned) return owned;
  }
  return sync_->bring(everything);
}

std::vector<std::string> RunFolder::close(bool bring) {
  std::vector<std::string> warnings = views_->finish();
  const Result<void> appended = unwritten_.empty() ? Result<void>() : results_->append(unwritten_);
  if (!appended) lines_lost_ += std::ranges::count(unwritten_, '\n');
  if (lines_lost_ > 0) {
    warnings.push_back("of the reports, " + std::to_string(lines_lost_) + " are not in result.json" +
                       (appended ? "" : ": " + appended.error().message));
  }
  close_files();
  closed_ = true;
  if (is_ours_) (void)unlink((local_path_ + "/" + status_file).c_str());
  if (bring) {
    if (const auto brought = sync(true); !brought) {
      warnings.push_back("not all of the run's files could be brought to storage: " + brought.error().message +
                         "; they are in " + staging_->keep());
    }
  }
  sync_.reset();
  staging_.reset();
  lock_.reset();
  return warnings;
}

}  // namespace headway::driver
