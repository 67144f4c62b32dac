#pragma once

#include "data/plan_nodes.hpp"

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Which files a read means, and their bytes. Files are local or lie on any storage that
/// checkpoints may be kept on; remote ones are read with retries.
namespace headway::flow {

struct SourceFile {
  std::string location;
  std::int64_t bytes = 0;
  /// The values in its path, in the order of `FoundFiles::partition_fields`; no value: null.
  std::vector<std::optional<std::string>> partition_values;
};

struct FoundFiles {
  /// By path as given; what lies below a directory or fits a pattern in the order of the names.
  std::vector<SourceFile> files;
  std::vector<std::shared_ptr<arrow::Field>> partition_fields;
};

/// The files that `read.paths` name: a file, a directory (all below it, except names that begin
/// with '.' or '_'), or a pattern with `*`, `?` and `[...]`, where `**` stands for any number of
/// directories. Of `read.options` it takes
///   - `file_extensions`: null or a list such as ["csv", "csv.gz"]; other files of directories and
///     patterns are left out, and files that were named are refused;
///   - `ignore_missing_paths`: paths where nothing is are left out;
///   - `partitioning`: null, "hive", or {"style": "hive" | "dir", "base_dir": text, "field_names":
///     [names], "field_types": {name: type}}. Values are strings unless a type is given.
///
/// Errors: Invalid and IOError, which name the path. No file at all is an error.
arrow::Result<FoundFiles> find_files(const data::ReadNode& read);

/// A location as its user has given it: of a filesystem that exists only in Python, the path there.
std::string_view users_path(std::string_view location);

/// Whether it is data in memory, kept in a scratch file of python/headway/data/_scratch.py, which
/// no user has named.
bool is_kept(const std::string& location);

/// A file in messages.
std::string shown(const SourceFile& file);

/// Any thread may read from it, several at once. Allocates from `pool`.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_file(const std::string& location,
                                                                      arrow::MemoryPool* pool);

/// The bytes from `begin` to `end`, or to the file's end if that comes first.
arrow::Result<std::shared_ptr<arrow::Buffer>> read_bytes(const std::string& location, std::int64_t begin,
                                                         std::int64_t end, arrow::MemoryPool* pool);

/// The file's bytes, decompressed if its name ends in .gz, .bz2, .zst, .lz4 or .br.
arrow::Result<std::shared_ptr<arrow::io::InputStream>> open_decompressed(const std::string& location,
                                                                         arrow::MemoryPool* pool);
bool is_compressed(const std::string& location);

}  // namespace headway::flow
