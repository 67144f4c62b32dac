#pragma once

namespace headway::worker {

/// Has this process keep the memory that it frees, up to `mib_max` MiB, for its next allocations. A
/// training step frees and allocates the same activations again and again; by default the C library
/// gives large ones back to the system each time, and every page of them costs a fault when it is
/// next touched: a fifth of the time of a small conv net on CPUs.
///
/// Blocks above 32 MiB (the C library's limit) still come from the system. What the environment
/// says (MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_, MALLOC_MMAP_THRESHOLD_) stays. Does nothing with
/// another allocator than glibc's.
void keep_freed_memory(int mib_max = 512);

}  // namespace headway::worker
