#pragma once

#include "flow/stage.hpp"

#include <arrow/result.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace headway::flow {

/// Makes a stage over rows.
using OverRows = std::function<arrow::Result<std::unique_ptr<Stage>>(std::unique_ptr<Stage>)>;

/// A shuffle of all rows whose bytes nobody knows before they are there: `in_memory`, or `on_disk`
/// where they have more than `bytes_max`. Both give the same order.
std::unique_ptr<Stage> shuffled_where_they_fit(std::unique_ptr<Stage> rows, std::int64_t bytes_max, OverRows in_memory,
                                               OverRows on_disk);

}  // namespace headway::flow
