#include "flow/budget.hpp"

#include <algorithm>

namespace headway::flow {

void Credit::give_back() {
  if (Budget* const budget = std::exchange(budget_, nullptr)) budget->give_back(bytes_);
}

bool Budget::count(std::int64_t bytes, bool in_any_case) {
  const std::lock_guard lock(mutex_);
  if (!in_any_case && taken_ + bytes > bytes_) return false;
  taken_ += bytes;
  peak_ = std::max(peak_, taken_);
  return true;
}

bool Budget::try_take(std::int64_t bytes, Credit& credit) {
  if (!count(bytes, false)) return false;
  credit = Credit(this, bytes);
  return true;
}

Credit Budget::take(std::int64_t bytes) {
  count(bytes, true);
  return {this, bytes};
}

bool Budget::try_grow(Credit& credit, std::int64_t bytes) {
  if (!count(bytes, false)) return false;
  credit.bytes_ += bytes;
  return true;
}

void Budget::grow(Credit& credit, std::int64_t bytes) {
  count(bytes, true);
  credit.bytes_ += bytes;
}

std::int64_t Budget::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

bool Budget::is_full_for(std::int64_t bytes) const { return taken() + (bytes >= large ? 2 * bytes : 0) > bytes_; }

std::int64_t Budget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void Budget::give_back(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace headway::flow
