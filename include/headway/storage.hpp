#pragma once

#include <headway/export.hpp>
#include <headway/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// A folder on a disk or, by its URL, on a remote filesystem (`s3://bucket/runs`, `gs://...`,
/// `hdfs://...`; docs/storage.md has what a URL may say). A value: it may be copied and used from
/// any thread; all calls block.
///
///     headway::Storage runs = headway::Storage::at("s3://bucket/runs").value();
///     runs.write("notes.txt", "the third try").value();
///
/// URLs need Arrow's libraries, those of a pyarrow wheel: beside an installed Headway wheel they
/// are found, elsewhere the environment variable HEADWAY_PYARROW is the folder of an installed
/// pyarrow (`python -c "import pyarrow; print(pyarrow.__path__[0])"`).
class HEADWAY_API Storage {
 public:
  /// `location` is a path (a relative one counts from the working directory) or a URL. Nothing is
  /// made or asked.
  /// Errors: `invalid_argument` for a malformed URL; `refused` for one that can't be opened here,
  /// saying what is missing.
  static Result<Storage> at(const std::string& location);

  /// The folder, as `at` took it; absolute when it is a path.
  const std::string& location() const { return location_; }

  /// The folder of a name in it, such as a run's or a checkpoint's. Errors: `invalid_argument` for
  /// "", "..", and an absolute path.
  Result<Storage> below(const std::string& name) const;

  /// The whole of a file. Errors: `not_found`, `unavailable`, `refused`; `invalid_argument` as
  /// `below`.
  Result<std::string> read(const std::string& name) const;

  /// Replaces a file whole and durably, with the folders above it. Errors: as `read`.
  Result<void> write(const std::string& name, std::string_view bytes) const;

  /// Every file below the folder, as its relative name, sorted; empty when there is no such folder.
  /// Errors: `unavailable`, `refused`.
  Result<std::vector<std::string>> list() const;

 private:
  explicit Storage(std::string location) : location_(std::move(location)) {}
  std::string location_;
};

}  // namespace headway
