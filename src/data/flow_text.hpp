#pragma once

#include "core/stage_counters.hpp"

#include <string>

/// What people see of a flow.
namespace headway::data {

/// A table with a line a stage, and a line about all: time, rows, and memory of the budget.
std::string stats_table(const FlowCounters& flow);

/// A line for a terminal: "write parquet · 120,000 rows · 40,000 rows/s · 3.0 s · 12.0 MiB of 256.0
/// MiB held". `what`: what is done with the rows; empty: the last stage. Before rows are through
/// all stages: "count · read parquet: 3,000 rows · …", of the last stage that has made any.
std::string progress_text(const FlowCounters& flow, const std::string& what);

/// "data set 'train': the last row of an epoch was dropped, because the 2 ranks have equal shares".
/// `dataset`: empty: it has no name.
std::string dropped_text(const std::string& dataset, std::int64_t rows, int world_size);

/// "1,234,567".
std::string grouped(std::int64_t number);
/// "512 B", "12.0 MiB".
std::string bytes_text(std::int64_t bytes);

}  // namespace headway::data
