#pragma once

#include <headway/export.hpp>
#include <headway/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

/// One file of a committed checkpoint.
struct CheckpointFile {
  std::string name;        ///< Relative to the checkpoint's directory.
  std::uint64_t size = 0;  ///< Bytes.
  std::string checksum;    ///< "xxh3:" and 16 hexadecimal digits.
  int rank = 0;            ///< The world rank that wrote it.
};

/// A committed checkpoint on local storage, opened for reading. A value: it may be copied and used from any thread.
///
///     headway::Checkpoint best = headway::Checkpoint::open("/data/run/checkpoint_000003").value();
///     for (const headway::CheckpointFile& file : best.files()) std::cout << file.name << ' ' << file.size << '\n';
class HEADWAY_API Checkpoint {
 public:
  /// Errors: `not_found` when there is no committed checkpoint at `path`, `corrupted` when its manifest can't be read.
  static Result<Checkpoint> open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<CheckpointFile>& files() const { return files_; }
  /// Rank 0's metrics of the report that carried it, as JSON text.
  const std::string& metrics_json() const { return metrics_json_; }
  /// The report's index in its run, from 0.
  std::int64_t index() const { return index_; }

  /// Reads every file again. Errors: `corrupted`, naming the file, the expected and the found size or checksum.
  Result<void> verify() const;

 private:
  Checkpoint() = default;
  std::string path_;
  std::string metrics_json_;
  std::int64_t index_ = 0;
  std::vector<CheckpointFile> files_;
};

}  // namespace headway
