#pragma once

#include <arrow/type.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace headway::flow {

/// What rows of a plan have shown, by node. It stays with the plan: stages that are made again have
/// it from their first row on.
class SeenRows {
 public:
  /// Of a union or mix; null: no types had to be wider than those of its first rows.
  std::shared_ptr<arrow::Schema> columns(std::size_t node) const;
  void widen(std::size_t node, const std::shared_ptr<arrow::Schema>& first, const arrow::Schema& other);

  /// Whether rows were too large for DuckDB's memory; see `WholeSpec::rows_are_large`.
  bool are_large(std::size_t node) const;
  void set_large(std::size_t node);

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<arrow::Schema>> columns_;
  std::set<std::size_t> large_;
};

/// Those of one node.
struct SeenAt {
  std::shared_ptr<SeenRows> rows;
  std::size_t node = 0;
};

}  // namespace headway::flow
