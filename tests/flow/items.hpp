#pragma once

#include "flow/parallel_stage.hpp"

#include <arrow/api.h>
#include <arrow/json/from_string.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Items of one number each, for a ParallelStage.
namespace headway::flow {

inline const ParallelLimits three_threads{3, 6};

inline std::shared_ptr<arrow::RecordBatch> row_of(int value) {
  const auto column = arrow::json::ArrayFromJSONString(arrow::int32(), "[" + std::to_string(value) + "]").ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int32())}), 1, {column});
}

inline int value_of(const arrow::RecordBatch& rows) {
  return static_cast<const arrow::Int32Array&>(*rows.column(0)).Value(0);
}

/// `count` items; `work` gets the number of each.
inline NextItem items(int count, std::function<arrow::Status(int, const ItemSink&)> work) {
  return [count, next = 0, work = std::move(work)]() mutable -> arrow::Result<std::optional<Item>> {
    if (next == count) return std::nullopt;
    Item item;
    item.where = "item " + std::to_string(next);
    item.bytes = 100;
    item.unit = next;
    item.work = [number = next, work](const ItemSink& sink) { return work(number, sink); };
    ++next;
    return item;
  };
}

inline std::vector<int> values_of(Stage& stage) {
  std::vector<int> values;
  while (true) {
    const auto chunk = stage.next().ValueOrDie();
    if (!chunk) return values;
    if (chunk->rows) values.push_back(value_of(*chunk->rows));
  }
}

}  // namespace headway::flow
