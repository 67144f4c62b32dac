#pragma once

#include "flow/large_blocks.hpp"

#include <arrow/memory_pool.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace headway::flow {

class Budget;

/// A part of the budget; it goes back with this object.
class Credit {
 public:
  Credit() = default;
  Credit(Credit&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  Credit& operator=(Credit&& other) noexcept {
    if (this != &other) {
      give_back();
      budget_ = std::exchange(other.budget_, nullptr);
      bytes_ = other.bytes_;
    }
    return *this;
  }
  ~Credit() { give_back(); }

  std::int64_t bytes() const { return budget_ == nullptr ? 0 : bytes_; }
  void give_back();

 private:
  friend class Budget;
  Credit(Budget* budget, std::int64_t bytes) : budget_(budget), bytes_(bytes) {}

  Budget* budget_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// The memory that this process may use for data, in bytes: what is read and not yet dealt, and
/// slots. It is kept by asking before work begins, never by refusing an allocation: Arrow has
/// places where a refused small request hangs. Any thread may call it; it outlives its credits.
class Budget {
 public:
  static constexpr std::int64_t large = std::int64_t{32} << 20;  ///< Rows that come one at a time.

  explicit Budget(std::int64_t bytes) : bytes_(bytes) {}

  /// Credit, when that much is free.
  bool try_take(std::int64_t bytes, Credit& credit);
  /// Credit in any case: for the one piece of work without which nothing would move, and for slots
  /// that users hold.
  Credit take(std::int64_t bytes);
  /// The same for what is found to be needed beyond a credit of this budget.
  bool try_grow(Credit& credit, std::int64_t bytes);
  void grow(Credit& credit, std::int64_t bytes);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t taken() const;
  /// Whether more was taken than there is: by `take` or `grow`.
  bool is_exceeded() const { return taken() > bytes_; }
  /// Whether there is no room for another piece of rows like one of so many bytes. A large one is
  /// there twice while it is made: as a function returns it, and as the worker shares it.
  bool is_full_for(std::int64_t bytes) const;
  /// The most that was taken at a time.
  std::int64_t peak() const;

  /// Counts what is allocated for decoded rows.
  arrow::MemoryPool* pool() { return &pool_; }

 private:
  friend class Credit;
  bool count(std::int64_t bytes, bool in_any_case);
  void give_back(std::int64_t bytes);

  mutable std::mutex mutex_;
  const std::int64_t bytes_;
  std::int64_t taken_ = 0;
  std::int64_t peak_ = 0;
  arrow::ProxyMemoryPool pool_{large_blocks()};
};

/// Null: nothing is counted.
inline bool is_exceeded(const Budget* budget) { return budget != nullptr && budget->is_exceeded(); }

}  // namespace headway::flow
