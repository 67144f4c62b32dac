#include "flow/seen_rows.hpp"

#include "flow/functions/wider_schema.hpp"

namespace headway::flow {

std::shared_ptr<arrow::Schema> SeenRows::columns(std::size_t node) const {
  const std::lock_guard lock(mutex_);
  const auto found = columns_.find(node);
  return found == columns_.end() ? nullptr : found->second;
}

void SeenRows::widen(std::size_t node, const std::shared_ptr<arrow::Schema>& first, const arrow::Schema& other) {
  const std::lock_guard lock(mutex_);
  columns_[node] = wider_schema(first, other);
}

bool SeenRows::are_large(std::size_t node) const {
  const std::lock_guard lock(mutex_);
  return large_.contains(node);
}

void SeenRows::set_large(std::size_t node) {
  const std::lock_guard lock(mutex_);
  large_.insert(node);
}

}  // namespace headway::flow
