#pragma once

#include <arrow/memory_pool.h>

#include <atomic>
#include <cstdint>

namespace headway::flow {

/// Anonymous memory of this process that is resident; 0: not known.
std::int64_t resident_bytes();

/// The limit of what an allocator keeps of freed memory: it gives that back when the process has
/// more than so many bytes, and 32 MiB of them are in nobody's use. Any thread.
class KeptMemory {
 public:
  explicit KeptMemory(arrow::MemoryPool* pool) : pool_(pool) {}

  /// No limit before the first call.
  void keep_within(std::int64_t bytes) { most_ = bytes; }
  /// A block of so many bytes is to be allocated. `used`: bytes of all blocks that somebody has.
  void before(std::int64_t size, std::int64_t used);

 private:
  arrow::MemoryPool* const pool_;
  std::atomic<std::int64_t> most_ = 0;
  std::atomic<std::int64_t> since_look_ = 0;
};

}  // namespace headway::flow
