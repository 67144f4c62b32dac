#include "library/signal_frames.hpp"

#include <algorithm>
#include <array>
#include <execinfo.h>
#include <ucontext.h>

namespace headway::library {
namespace {

/// The instruction at which a signal came.
const void* place_of(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  return nullptr;
#endif
}

}  // namespace

int frames_at_signal(const void* context, std::span<void*> frames) {
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  // Above the place are the handler's own frames.
  const auto place = std::find(frames.begin(), end, place_of(context));
  if (place == end) return count;
  std::copy(place, end, frames.begin());
  return static_cast<int>(end - place);
}

void prepare_frames() {
  std::array<void*, 1> frame{};
  (void)backtrace(frame.data(), 1);
}

}  // namespace headway::library
