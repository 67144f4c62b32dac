#pragma once

#include "control/attempt_times.hpp"
#include "control/data_watch.hpp"
#include "control/journal.hpp"
#include "control/run_view.hpp"
#include "core/json.hpp"
#include "core/worker.hpp"
#include "driver/append_file.hpp"
#include "driver/folder_sync.hpp"
#include "driver/report_views.hpp"
#include "driver/run_lock.hpp"
#include "driver/shown_engine.hpp"
#include "driver/staging.hpp"
#include "wire/frame.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headway::driver {

/// A run's folder: what it says of its reports, run.json, logs/ and the checkpoints. Its small
/// files are written on a local side: the folder itself when it is on a local file system, else a
/// staging directory, of which everything is brought to storage now and then. Used from one storage
/// strand, but for the paths; every call may block.
class RunFolder {
 public:
  /// Makes the staging directory where one is needed; when that fails, `prepare` tells it. For
  /// `durable` see RunStart::durable_files. Else whoever starts the run has proved that storage can
  /// be written there, and keeps other drivers away.
  explicit RunFolder(std::string location, bool durable = true);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// The folder's location.
  const std::string& path() const { return path_; }
  /// Where its small files are written.
  const std::string& local_path() const { return local_path_; }
  bool is_staged() const { return local_path_ != path_; }
  std::string checkpoint_path(const std::string& name) const;
  std::string log_path(int rank, const std::string& name) const {
    return local_path_ + "/logs/rank_" + std::to_string(rank) + "." + name;
  }

  std::string validation_log_path(const std::string& checkpoint) const {
    return local_path_ + "/logs/validation_" + checkpoint + ".log";
  }

  struct Prepared {
    std::optional<control::FoundRun> found;  ///< The run that was there.
    std::vector<std::string> warnings;
  };
  /// Makes the folder or takes up the one that is there, as its only owner; proves that it can be
  /// written; writes params.json, and trainer.pkl when there is a `trainer`.
  /// Errors: `already_exists`, naming the owner, when it has one, and for checkpoints without a
  /// run.json; `corrupted` for a run.json that can't be read; `unavailable`, `refused`.
  Result<Prepared> prepare(const JsonObject& config, const wire::Blob& trainer, Owner owner);

  /// Errors: `not_found` when the folder was deleted or moved since `prepare`. Remote storage is
  /// not asked: of a folder there, what the last `commit`, `write_journal` or `sync` has found.
  Result<void> check_in_place() const;

  /// Commits a checkpoint. Errors: `superseded` when a later driver has taken the run over; those
  /// of storage::commit.
  Result<void> commit(const Manifest& manifest, CheckpointSource source);

  /// Adds a line to result.json; it survives the death of this process from then on (but for a
  /// staged folder, which is brought to storage later). A line that could not be written is kept,
  /// and written before the next one, or by `close`; of lines that are kept for long the oldest go
  /// (16 MiB). Returns what the user should be warned of: the first such line; `close` says how
  /// many were lost.
  std::vector<std::string> append(const std::string& line);

  /// The last one; empty when there is none.
  const std::string& last_line() const { return last_line_; }

  /// What is written from result.json for other programs. Its line is there before a report is
  /// shown to them.
  ReportViews& views() { return *views_; }

  /// Replaces run.json, on storage itself. Errors: `superseded` when a later driver has
  /// taken the run over.
  Result<void> write_journal(control::Journal snapshot);

  /// Replaces status.json, the run as this driver sees it. It is there while the run is at work, on
  /// the local side alone, and may be lost with the machine's power. Nothing when the folder is not
  /// this driver's (any more) or cannot be written.
  void write_status(const control::RunView& view, const ShownEngine& engine);

  /// Replaces step_times_<attempt>.json, how long each rank of that attempt took. Not durable until
  /// the end; nothing when it cannot be written.
  void write_step_times(const control::AttemptTimes& times);

  /// The same for data_waits.json, how long ranks waited for their data sets.
  void write_data_times(const control::DataTimes& times);

  /// Adds lines to history.jsonl, without a word when it fails: nothing depends on it.
  void append_history(const std::string& lines);

  /// Brings what has changed to storage; nothing for a folder that is there. `everything`: see
  /// FolderSync.
  /// Errors: `superseded`, as above.
  Result<void> sync(bool everything);

  /// The end: completes the files, brings them to storage if `bring`, removes the staging directory
  /// and gives the folder up to whoever wants it next. Nothing may be written afterwards. Returns
  /// what the user should be warned of. When storage can't be reached the staging directory stays,
  /// and that says where.
  std::vector<std::string> close(bool bring);

 private:
  Result<void> take_lock(Owner owner, std::vector<std::string>& warnings);
  Result<void> check_owner(std::int64_t epoch);
  Result<void> replace(const std::string& name, const std::string& text);
  void replace_small_file(const std::string& name, const std::string& text);
  void close_files();

  std::optional<RunLock> lock_;
  bool durable_ = true;
  Owner owner_;                   ///< This driver.
  bool is_ours_ = false;          ///< `prepare` has made the folder this driver's.
  std::int64_t owner_epoch_ = 0;  ///< As this driver's newest journal has it.
  bool has_journal_ = false;      ///< run.json was written.
  bool is_gone_ = false;          ///< It was, and on remote storage it is not there any more.
  std::string path_;
  std::string local_path_;
  std::string last_line_;
  bool closed_ = false;
  std::optional<Staging> staging_;
  std::optional<Error> no_staging_;
  std::optional<FolderSync> sync_;
  std::unique_ptr<AppendFile> results_;
  std::unique_ptr<AppendFile> history_;
  std::string unwritten_;  ///< Lines that result.json lacks …
  bool told_unwritten_ = false;
  std::int64_t lines_lost_ = 0;  ///< … and how many more are not kept any more.
  std::unique_ptr<ReportViews> views_;
};

}  // namespace headway::driver
