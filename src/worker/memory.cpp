#include "worker/memory.hpp"

#include <cstdlib>
#include <malloc.h>

namespace headway::worker {

void keep_freed_memory([[maybe_unused]] int mib_max) {
#ifdef __GLIBC__
  constexpr int mib = 1 << 20;
  const auto set = [](const char* variable, int parameter, int value) {
    if (std::getenv(variable) == nullptr) mallopt(parameter, value);
  };
  set("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, 32 * mib);
  set("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, mib_max * mib);
  set("MALLOC_TOP_PAD_", M_TOP_PAD, mib_max / 8 * mib);
#endif
}

}  // namespace headway::worker
