#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <cstdint>

namespace headway::flow {

/// The limit of what a pool's allocator keeps of freed memory: it gives that back when the process
/// has more than so many bytes, and 32 MiB of them are in nobody's use. Any thread.
class KeptMemory {
 public:
  explicit KeptMemory(arrow::MemoryPool* pool) : pool_(pool) {}

  /// No limit before the first call.
  void keep_within(std::int64_t bytes) { most_ = bytes; }
  /// The pool is to allocate a block of so many bytes.
  void before(std::int64_t size);

 private:
  arrow::MemoryPool* const pool_;
  std::atomic<std::int64_t> most_ = 0;
  std::atomic<std::int64_t> since_look_ = 0;
};

}  // namespace headway::flow
