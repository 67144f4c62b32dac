#include "flow/budget.hpp"

#include <algorithm>

namespace headway::flow {

void Credit::give_back() {
  if (Budget* const budget = std::exchange(budget_, nullptr)) budget->give_back(bytes_);
}

bool Budget::try_take(std::int64_t bytes, Credit& credit) {
  const std::lock_guard lock(mutex_);
  if (taken_ + bytes > bytes_) return false;
  taken_ += bytes;
  peak_ = std::max(peak_, taken_);
  credit = Credit(this, bytes);
  return true;
}

Credit Budget::take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ += bytes;
  peak_ = std::max(peak_, taken_);
  return {this, bytes};
}

std::int64_t Budget::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

std::int64_t Budget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void Budget::give_back(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  taken_ -= bytes;
}

}  // namespace headway::flow
