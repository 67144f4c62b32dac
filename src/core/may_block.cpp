#include "core/may_block.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace headway::detail {

void report_blocking(const char* what) {
  const char* check = std::getenv("HEADWAY_CHECK_LOOP");
  if (check == nullptr || std::strcmp(check, "1") != 0) return;
  std::fprintf(stderr, "headway: the event loop's thread may block: %s\n", what);
  std::abort();
}

}  // namespace headway::detail
