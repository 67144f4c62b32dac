#pragma once

#include <chrono>

namespace headway::driver {

/// Now, in seconds since 1970.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace headway::driver
