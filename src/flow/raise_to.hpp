#pragma once

#include <atomic>
#include <cstdint>

namespace headway::flow {

/// `most` is at least `value` from now on. Any thread may call it.
inline void raise_to(std::atomic<std::int64_t>& most, std::int64_t value) {
  std::int64_t seen = most;
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace headway::flow
