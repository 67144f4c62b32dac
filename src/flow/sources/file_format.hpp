#pragma once

#include "flow/source.hpp"
#include "flow/sources/files.hpp"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// Part of a file that is read at once. What `begin` and `end` count is the format's: bytes, rows,
/// stripes.
struct Piece {
  std::size_t file = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t rows = -1;  ///< -1: unknown before it is read.
  std::int64_t bytes = 0;  ///< Of its decoded rows, as far as that is known; else of the file.
  /// Of all columns, whichever are read: units, which random steps number, are made by it. -1: as
  /// `bytes`.
  std::int64_t packed_bytes = -1;
  std::int64_t first_row = -1;  ///< Of its file, counted from 0; -1: unknown before it is read.
  std::string failure = {};     ///< Why it cannot be read, where that is known already.
};

/// Of large pieces so many rows are decoded at a time at most.
constexpr std::int64_t part_rows_max = std::int64_t{64} << 10;

/// Rows of a piece that have about so many bytes: one at least, and `part_rows_max` at most.
inline std::int64_t rows_of_a_part(const Piece& piece, std::int64_t bytes) {
  const std::int64_t row_bytes = piece.bytes / std::max<std::int64_t>(piece.rows, 1) + 1;
  return std::clamp<std::int64_t>(bytes / row_bytes, 1, part_rows_max);
}

/// How files of one kind are cut and read. `open` comes first; after it any thread may call the
/// others, several at once. Errors need not name the file, but column and row.
class FileFormat {
 public:
  FileFormat() = default;
  FileFormat(const FileFormat&) = delete;
  FileFormat& operator=(const FileFormat&) = delete;
  virtual ~FileFormat() = default;

  /// Fixes the schema of all files. `files` is not empty and outlives the format.
  virtual arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                             arrow::MemoryPool* pool) = 0;

  /// Whether types are those of samples. Then pieces may fail with `schema_widened` and a schema.
  virtual bool has_samples() const { return false; }
  /// After `open`: rows have types that have the values of `schema` too. The schema of all files
  /// then.
  virtual std::shared_ptr<arrow::Schema> widen(const arrow::Schema& schema);

  /// The parts of a file in its order: the whole of it, unless a format knows better.
  virtual arrow::Result<std::vector<Piece>> split(std::size_t index, const SourceFile& file) const;

  /// Whether text is UTF-8 when it is read, or is not to be checked.
  virtual bool has_checked_text() const { return false; }

  /// As `Source` says it. `read` announces the rows then, and its reader makes them.
  virtual bool has_row_buffers() const { return false; }

  /// The rows of a piece. Batches have the columns of the schema that `columns` names by index, in
  /// any order; another type than the schema's is cast, a column that is missing or additional is
  /// an error.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece& piece,
                                                                        const std::vector<int>& columns,
                                                                        arrow::MemoryPool* pool) const = 0;
};

/// How many bytes of a file make a unit, and from where on small files are a unit together.
constexpr std::int64_t unit_bytes_default = std::int64_t{8} << 20;
constexpr std::int64_t packed_bytes_min = std::int64_t{1} << 20;
/// So many files at most are a unit, however small they are: the first rows do not wait for
/// thousands of files.
constexpr std::size_t packed_files_max = 256;

/// The bytes of a file in pieces of `unit_bytes`; a rest of less than half of that belongs to the
/// last one.
std::vector<Piece> byte_ranges(std::size_t index, std::int64_t begin, std::int64_t end, std::int64_t unit_bytes);

/// The option `unit_bytes` of a read: how large a unit is at least. Errors: not from 1 to 2³⁰.
arrow::Result<std::int64_t> unit_bytes_of(const data::ReadNode& read);

/// A source over files of one format: finds them, cuts them, packs small ones into units of
/// `packed_bytes_min` or `packed_files_max`, adds the columns of partitions and, with
/// `include_paths`, the column `path`, and keeps the columns that `read.options` asks for. Where
/// units may fail (`errored_max`: how many; -1: all), no two files are a unit together, and files
/// that cannot even be cut are units that fail when they are read. `wider` keeps the types of
/// formats that have samples.
arrow::Result<std::unique_ptr<Source>> open_file_source(const data::ReadNode& read, std::unique_ptr<FileFormat> format,
                                                        arrow::MemoryPool* pool, std::int64_t errored_max = 0,
                                                        std::shared_ptr<SeenRows> wider = nullptr);

/// The schema of that source, whose files are not cut. Null: they cannot be found or opened.
arrow::Result<std::shared_ptr<arrow::Schema>> schema_of_file_source(const data::ReadNode& read,
                                                                    std::unique_ptr<FileFormat> format,
                                                                    arrow::MemoryPool* pool, std::int64_t errored_max,
                                                                    std::shared_ptr<SeenRows> wider);

}  // namespace headway::flow
