#pragma once

#include <headway/result.hpp>

#include <cstddef>
#include <functional>

namespace headway::storage {

/// Calls `task` with 0, 1, … `count - 1` on at most `threads_max` threads, the caller's among them,
/// and waits for all. After the first error no new one is begun. Returns the error of the lowest
/// index.
Result<void> parallel_for(std::size_t count, std::size_t threads_max,
                          const std::function<Result<void>(std::size_t)>& task);

/// Enough to keep a disk busy with fsyncs, few enough for a training process with its own threads.
inline constexpr std::size_t storage_threads_max = 8;

}  // namespace headway::storage
