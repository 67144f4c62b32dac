#pragma once

#include "core/text.hpp"
#include "flow/functions/wider_schema.hpp"

#include <arrow/status.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace headway::flow {

/// Units of a plan that may fail: each is left out, until there are too many. Any thread.
class ErroredUnits {
 public:
  /// `most`: how many; -1: all.
  explicit ErroredUnits(std::int64_t most) : most_(most) {}

  /// Whether any may: then rows are counted as they come, not by what files promise.
  bool allows_any() const { return most_ != 0; }

  /// Whether the unit that failed so is left out. A stream that was closed has not failed, nor has
  /// one that is made again.
  bool leave_out(const arrow::Status& failure) {
    if (failure.IsCancelled() || is_schema_widened(failure)) return false;
    const std::lock_guard lock(mutex_);
    if (most_ >= 0 && count_ >= most_) return false;
    if (count_++ == 0) first_ = to_utf8(failure.message());
    return true;
  }

  std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// What the first one failed with; empty: none has.
  std::string first_failure() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  const std::int64_t most_;
  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::string first_;
};

}  // namespace headway::flow
