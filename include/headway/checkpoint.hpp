#pragma once

#include <headway/export.hpp>
#include <headway/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headway {

/// One file of a committed checkpoint.
struct CheckpointFile {
  std::string name;        ///< Relative to the checkpoint's directory.
  std::uint64_t size = 0;  ///< Bytes.
  /// "xxh3:" and 16 hexadecimal digits; empty for a file that was recorded as it was found.
  std::string checksum;
  int rank = 0;  ///< The world rank that wrote it.
};

/// A file that is not what was written.
struct CheckpointDamage {
  std::string file;      ///< Where it is.
  std::string expected;  ///< "10 bytes", "checksum xxh3:0123456789abcdef".
  std::string found;     ///< "4 bytes", "no such file", "checksum xxh3:…".
};

/// How far reading or copying is.
struct CheckpointProgress {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t files = 0;
  std::uint64_t files_total = 0;
};

/// Called at the start, after every megabyte or so and after every file; on any thread, never on
/// two at once. It must not throw.
using OnCheckpointProgress = std::function<void(const CheckpointProgress&)>;

/// A checkpoint's files on this machine, for reading. As long as one of its copies lives, they
/// stay.
class HEADWAY_API CheckpointDirectory {
 public:
  const std::string& path() const { return path_; }

 private:
  friend class Checkpoint;
  CheckpointDirectory(std::string path, std::shared_ptr<const void> held)
      : path_(std::move(path)), held_(std::move(held)) {}
  std::string path_;
  std::shared_ptr<const void> held_;
};

/// A directory with whatever a training loop needs to resume. A value: it may be copied and used
/// from any thread.
///
/// One that was given to `report` is durable when `report` has returned, and can be opened from
/// then on:
///
///     headway::Checkpoint best = headway::Checkpoint::open("/data/run/checkpoint_000003").value();
///     for (const headway::CheckpointFile& file : best.files()) std::cout << file.name << ' ' << file.size << '\n';
class HEADWAY_API Checkpoint {
 public:
  /// A directory of files, committed or not, for `report` or to resume from. It is not looked at
  /// here: `path()` is all that is known. A relative path is below the directory that the process
  /// is in now.
  static Checkpoint from_directory(const std::string& path);

  /// Errors: `not_found` when there is no committed checkpoint at `path`; `corrupted` when its
  /// manifest is damaged, naming the file, what is expected and what was found, and the newest good
  /// checkpoint of the same run; `invalid_argument` when a newer version of Headway wrote it.
  static Result<Checkpoint> open(const std::string& path);

  /// The newest checkpoint in a run's folder whose files are all as they were written, found by
  /// reading them, newest first.
  /// Errors: `not_found` when there is none, or no such folder.
  static Result<Checkpoint> newest_good(const std::string& run_directory);

  /// The directory, or the URL of one on remote storage.
  const std::string& path() const { return path_; }

  /// The files in a local directory: its own, or, from remote storage, a copy that is compared with
  /// the manifest on the way; the processes of this machine share it, and the last one removes it.
  /// Errors: `not_found`, `corrupted`, `unavailable`, `refused`.
  ///
  ///     const headway::CheckpointDirectory files = headway::get_checkpoint()->as_directory().value();
  ///     std::ifstream model(files.path() + "/model.bin");
  Result<CheckpointDirectory> as_directory() const;

  /// Copies the files to a local directory, which is made when missing; those of a committed
  /// checkpoint are compared with its manifest on the way. Errors: `not_found`; `corrupted`, naming
  /// the file and the newest good checkpoint of the same run; `unavailable`.
  Result<void> to_directory(const std::string& target) const;

  /// What the manifest says; this and what follows are empty, "" and 0 after `from_directory`.
  const std::vector<CheckpointFile>& files() const { return files_; }
  /// Rank 0's metrics of the report that carried it, as JSON text.
  const std::string& metrics_json() const { return metrics_json_; }
  /// The report's index in its run, from 0.
  std::int64_t index() const { return index_; }

  /// The checkpoint's metadata, a JSON object as text: the trainer's metadata, and over it what was
  /// set here; "{}" without any.
  /// Errors: `corrupted`, naming the file.
  Result<std::string> metadata_json() const;
  /// Stores metadata with the checkpoint, in place of what was set before: the file
  /// `.metadata.json`. It may be written before the checkpoint is reported, which keeps it in the
  /// stored copy, and at any time later.
  /// Errors: `invalid_argument` for text that is no JSON object; `unavailable`.
  ///
  ///     checkpoint.set_metadata_json(headway::Json{{"classes", 10}}.dump()).value();
  Result<void> set_metadata_json(const std::string& object) const;
  /// Adds to the metadata; new values take the place of old ones of the same name. Errors: as the
  /// two above.
  Result<void> update_metadata_json(const std::string& object) const;

  /// Reads every file again. Errors: `corrupted`, naming the first bad file, the expected and the
  /// found size or checksum.
  Result<void> verify(const OnCheckpointProgress& on_progress = {}) const;

  /// Reads every file again and tells all that is damaged; nothing when all is well. Errors:
  /// `not_found` when the checkpoint is gone by now, `unavailable` when something could not be
  /// read.
  Result<std::vector<CheckpointDamage>> examine(const OnCheckpointProgress& on_progress = {}) const;

  /// Copies it to a directory that is not there yet, compared with the manifest on the way; the
  /// copy is durable, and a committed checkpoint itself. Errors: `already_exists`; `corrupted`,
  /// with the newest good checkpoint of the same run, when this one is damaged; `unavailable`.
  /// After an error nothing is left at `target`.
  ///
  ///     headway::Result<headway::Checkpoint> kept = best.copy_to("/backup/best");
  Result<Checkpoint> copy_to(const std::string& target, const OnCheckpointProgress& on_progress = {}) const;

 private:
  Checkpoint() = default;
  std::string path_;
  std::string metrics_json_;
  std::int64_t index_ = 0;
  std::vector<CheckpointFile> files_;
};

}  // namespace headway
