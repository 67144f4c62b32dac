#pragma once

#include "flow/budget.hpp"

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace headway::flow {

/// Rows in order, on their way to a consumer.
struct Chunk {
  std::shared_ptr<arrow::RecordBatch> rows;
  /// The window of the epoch's order that the rows are of.
  std::int64_t window = 0;
  /// The unit within the order, for what depends on the unit alone.
  std::int64_t unit = 0;
  /// Whether it is the last of its unit. Every unit has one such chunk, with or without rows.
  bool ends_unit = true;
  /// Held while the rows are.
  std::shared_ptr<Credit> credit;
};

/// A step of a plan that runs: a stream of rows in order. One thread pulls; a stage pulls from the
/// ones below it.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  /// Waits for the next rows; nothing at the end. After an error or the end it is not called again.
  virtual arrow::Result<std::optional<Chunk>> next() = 0;

  /// Of all rows. Null when only the first rows show it.
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;

  /// From any thread: `next` returns Cancelled soon.
  virtual void stop() = 0;
};

}  // namespace headway::flow
