#include "worker/memory.hpp"

#include <cstdlib>
#include <malloc.h>

namespace headway::worker {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int mib = 1 << 20;
  const auto set = [](const char* variable, int parameter, int value) {
    if (std::getenv(variable) == nullptr) mallopt(parameter, value);
  };
  set("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, 32 * mib);
  set("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, 512 * mib);
  set("MALLOC_TOP_PAD_", M_TOP_PAD, 64 * mib);
#endif
}

}  // namespace headway::worker
