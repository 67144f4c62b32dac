#pragma once

#include <arrow/memory_pool.h>

#include <cstdint>

namespace headway::flow {

/// Arrow's own pool, except that blocks of 32 MiB or more go back to the system when they are
/// freed. Arrow's allocator keeps what is freed for the next block of that size, which makes scans
/// faster; of large rows and pages, whose sizes differ, it would keep several. Any thread; it never
/// ends.
arrow::MemoryPool* large_blocks();

/// Has the allocator give back what it keeps when the process has more than so many bytes.
void keep_memory_within(std::int64_t bytes);

}  // namespace headway::flow
