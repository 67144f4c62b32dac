#pragma once

#include "flow/shared_ring.hpp"

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headway::data {
struct ReadNode;
}

/// What the executor knows of files: units, and how to read one.
namespace headway::flow {

class SeenRows;

/// What is read at once: a row group, a range of bytes that ends at a line's end, a slice of a
/// table, a few small files.
struct Unit {
  std::size_t file = 0;
  /// For people: "/data/a.parquet, row group 3 (rows 3000 to 3999)".
  std::string where;
  std::int64_t rows = -1;  ///< -1: unknown before it is read.
  std::int64_t bytes = 0;  ///< Of its decoded rows, as far as metadata says; else of the file.
  std::int64_t begin = 0;  ///< The source's own: row group, byte, row.
  std::int64_t end = 0;
  std::int64_t skipped = 0;  ///< The first rows that are read for it and are not its own.
};

/// How units are cut where there are few.
struct FinerUnits {
  std::int64_t units = 1;       ///< About so many in all.
  std::int64_t rows_min = -1;   ///< Of a unit; -1: nobody knows how many rows there are.
  std::int64_t batch_rows = 1;  ///< Units have a multiple of these, and so has `rows_min`.
};

/// Whether the unit's rows are large enough to be made in a ring.
inline bool fits_ring(const Unit& unit) { return unit.rows > 0 && unit.bytes / unit.rows >= ring_row_bytes_min; }

/// An opened read. `schema` and `units` are fixed when it is opened. Any thread may call `read`,
/// several at once.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// The schema of all units: each is cast to it as it is read.
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  /// In source order: the files as given, the parts of each in the file's order.
  virtual const std::vector<Unit>& units() const = 0;
  /// The files that are read, as locations.
  virtual std::vector<std::string> files() const = 0;
  /// The rows of a unit in order. `columns` are indices of `schema`'s fields; null: all. Batches
  /// have these columns in this order. Decoded bytes are allocated from `pool`, which outlives the
  /// batches. Errors need not name the unit: the executor adds `where`.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const Unit& unit,
                                                                        const std::vector<int>* columns,
                                                                        arrow::MemoryPool* pool) const = 0;
  /// The same rows in the same order in more units, where units are of several files or parts of
  /// files. No file's part is read for more than two units. The last part of a unit may be smaller
  /// than `wanted`. Null: this source cannot.
  virtual std::shared_ptr<const Source> in_finer_units(const FinerUnits& /*wanted*/) const { return nullptr; }
  /// Whether rows are announced to the thread's place of a ring, and made in what `row_buffer`
  /// gives.
  virtual bool has_row_buffers() const { return false; }
  /// A row of a unit, counted from 0, for people: "/data/a.parquet, row 3001". Empty where neither
  /// the unit nor its file have a name.
  virtual std::string place_of(const Unit& unit, std::int64_t row) const {
    return unit.where.empty() ? "" : unit.where + ", row " + std::to_string(row) + " of it";
  }
};

/// Of all units; -1: not known.
inline std::int64_t rows_of_source(const Source& source) {
  std::int64_t rows = 0;
  for (const Unit& unit : source.units()) rows = rows < 0 || unit.rows < 0 ? -1 : rows + unit.rows;
  return rows;
}

/// Opens what a read names: lists files, reads footers concurrently, fixes the schema. Errors name
/// the file. Where types are those of samples, rows that need wider ones fail with
/// `is_schema_widened`, once `wider` has these for whoever opens the source again; without it they
/// are errors.
arrow::Result<std::unique_ptr<Source>> open_source(const data::ReadNode& node, arrow::MemoryPool* pool,
                                                   std::int64_t errored_max = 0,
                                                   std::shared_ptr<SeenRows> wider = nullptr);

/// The schema that `open_source` would fix, by as many files as decide it; no file is cut. Null: a
/// file cannot be found or opened. Errors: columns that are asked for and are not there.
arrow::Result<std::shared_ptr<arrow::Schema>> schema_of_files(const data::ReadNode& node, arrow::MemoryPool* pool,
                                                              std::int64_t errored_max,
                                                              std::shared_ptr<SeenRows> wider);

}  // namespace headway::flow
