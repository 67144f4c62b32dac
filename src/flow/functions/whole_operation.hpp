#pragma once

#include "flow/functions/function_host.hpp"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// An operation that needs all rows: a sort, an aggregation by key, a join. DuckDB does it in a
/// process that ends with it.
struct WholeSpec {
  std::string name;  ///< For messages: "sort".
  /// JSON: {"operation": "sort", ...}, headway._worker.whole_queries.
  std::string arguments;
  std::int64_t memory_bytes = 0;  ///< DuckDB's limit; what exceeds it is spilled.
  std::string scratch;            ///< A folder; what is spilled lies in a folder of it.
  std::int64_t batch_rows = 0;    ///< Of outputs; 0: 65,536.
  /// Called with bytes when the operation begins to spill, and with the total when it ends.
  std::function<void(std::int64_t bytes, const std::string& folder)> spilled;
  /// Columns that only come along are kept beside DuckDB, without a look at the first rows.
  bool rows_are_large = false;
  /// Called when rows are too large for DuckDB's memory, and not once they are kept beside it. The
  /// result fails with `is_schema_widened` then.
  std::function<void()> found_large;
  /// Called before more of a large result is made while memory is full, by whoever reads it.
  std::function<void()> wait_for_need;
  /// Called with the number that FunctionHost::kill_worker takes.
  std::function<void(std::int64_t worker)> started;
};

/// Runs it over `inputs`, which are read to their ends from within the result's `ReadNext`, on the
/// caller's thread. The result's schema is known once the inputs' are; its rows come in the same
/// order each time. Letting the reader go ends the process and removes what it spilled. Errors: in
/// words, also for a missing duckdb; the inputs' own.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> run_whole(
    std::shared_ptr<FunctionHost> host, WholeSpec spec, std::vector<std::shared_ptr<arrow::RecordBatchReader>> inputs);

}  // namespace headway::flow
