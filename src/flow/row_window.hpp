#pragma once

#include "flow/shared_ring.hpp"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headway::flow {

/// Rows that are taken out in another order than they were put in. Columns of fixed width are kept
/// row by row, so that a row is one place in memory: taking rows of a window column by column
/// misses the caches once a value. Values of many cache lines stay where they came.
class RowWindow {
 public:
  /// `rows_expected`: memory is reserved for so many; -1: unknown. Values of the widest
  /// column lie in `ring` when they are taken, if they are wide, as long as it has room; of two
  /// columns, batches of several takes would lie in pieces. Null: in the pool's memory, as others.
  RowWindow(std::shared_ptr<arrow::Schema> schema, std::int64_t rows_expected, arrow::MemoryPool* pool,
            std::shared_ptr<SharedRing> ring = nullptr);

  arrow::Status add(const arrow::RecordBatch& batch);
  /// No rows; the memory stays, whose pages are there already.
  void clear();
  std::int64_t rows() const { return rows_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  /// Bytes of a row's columns of fixed width.
  std::int64_t row_bytes() const { return row_bytes_; }
  /// Those of a row that the ring takes.
  std::int64_t row_bytes_in_ring() const {
    return !fixed_.empty() && fixed_.front().is_wide ? fixed_.front().width : 0;
  }

  /// The rows with these numbers, in this order.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> take(std::span<const std::uint32_t> numbers) const;

 private:
  /// A column whose values lie in the rows.
  struct Fixed {
    int column = 0;
    std::int64_t width = 0;       ///< Bytes of a value.
    std::int64_t at = 0;          ///< Of the value within a row.
    std::int64_t list_size = -1;  ///< Values of a fixed-size list; -1: it is none.
    bool is_bits = false;
    std::shared_ptr<arrow::DataType> child;
    /// Wide values are not copied: where each lies, and what holds them.
    bool is_wide = false;
    std::vector<const std::uint8_t*> places;
    std::vector<std::shared_ptr<arrow::ArrayData>> pieces;
    /// A byte for each row, 0: null. Empty while there is no null.
    std::vector<std::uint8_t> valid;
    std::vector<std::uint8_t> valid_values;  ///< The same of each value of lists.
  };
  /// A column that is taken by Arrow's kernel.
  struct Other {
    int column = 0;
    arrow::ArrayVector pieces;
    mutable std::shared_ptr<arrow::Array> whole;
  };

  arrow::Status reserve(std::int64_t rows);
  void place(const arrow::RecordBatch& batch);
  static void keep(Fixed& column, const std::shared_ptr<arrow::ArrayData>& data);
  static const std::uint8_t* values_of(const Fixed& column, const arrow::ArrayData& data);
  void place_values(const Fixed& column, const arrow::ArrayData& data, std::int64_t first, std::int64_t count,
                    std::uint8_t* to) const;
  arrow::Result<std::shared_ptr<arrow::Buffer>> memory_for(const Fixed& column, std::int64_t rows) const;
  arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> gather(std::span<const std::uint32_t> numbers) const;
  arrow::Result<std::shared_ptr<arrow::ArrayData>> fixed_data(const Fixed& column, std::int64_t rows,
                                                              std::shared_ptr<arrow::Buffer> values,
                                                              std::span<const std::uint32_t> numbers) const;

  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
  std::shared_ptr<SharedRing> ring_;
  std::vector<Fixed> fixed_;
  std::vector<Other> others_;
  std::int64_t row_bytes_ = 0;
  std::int64_t stride_ = 0;  ///< Of rows in `rows_memory_`.
  std::int64_t rows_ = 0;
  std::shared_ptr<arrow::ResizableBuffer> rows_memory_;
};

}  // namespace headway::flow
