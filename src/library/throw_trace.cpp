#include "library/throw_trace.hpp"

#include "library/signal_frames.hpp"
#include "library/symbol_name.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <execinfo.h>
#include <span>

namespace headway::library {
namespace {

constexpr int frames_max = 64;
constexpr std::size_t throws_max = 256;

/// Who writes a place has taken it; it is others' to read while it names its object.
struct Throw {
  std::atomic<bool> taken{false};
  std::atomic<const void*> object{nullptr};
  void (*destroy)(void*) = nullptr;
  std::array<void*, frames_max> frames{};
  int count = 0;
};

std::atomic<bool> noting{false};
/// Without a lock, and without memory that would have to be had: what is thrown may be that there
/// is none.
std::array<Throw, throws_max> throws;
std::atomic<std::size_t> next_place{0};

Throw* place_of(const void* object) {
  const auto found = std::find_if(throws.begin(), throws.end(), [&](const Throw& each) {
    return each.object.load(std::memory_order_acquire) == object;
  });
  return found == throws.end() ? nullptr : &*found;
}

/// The end of an exception that was noted, in place of the exception's destructor: its memory may
/// be the next one's.
void end_exception(void* object) {
  void (*destroy)(void*) = nullptr;
  if (Throw* place = place_of(object)) {
    destroy = place->destroy;
    place->object.store(nullptr, std::memory_order_release);
    place->taken.store(false, std::memory_order_release);
  }
  if (destroy != nullptr) destroy(object);
}

/// Returns whether there was a place left.
bool note(const void* object, void (*destroy)(void*)) {
  for (std::size_t tried = 0; tried < throws_max; ++tried) {
    Throw& place = throws[next_place.fetch_add(1, std::memory_order_relaxed) % throws_max];
    if (place.taken.exchange(true, std::memory_order_acquire)) continue;
    place.destroy = destroy;
    place.count = backtrace(place.frames.data(), frames_max);
    place.object.store(object, std::memory_order_release);
    return true;
  }
  return false;
}

/// The user's frame that threw, or called what did: behind our own __cxa_throw, and that of a
/// sanitizer's, which stands before it.
int first_of(const Throw& thrown) {
  constexpr int own_max = 8;
  int first = 0;
  for (int i = 0; i < std::min(thrown.count, own_max); ++i) {
    if (symbol_name(thrown.frames[static_cast<std::size_t>(i)]).find("__cxa_throw") != std::string::npos) first = i + 1;
  }
  while (first < thrown.count && in_this_library(thrown.frames[static_cast<std::size_t>(first)])) ++first;
  return first;
}

std::string text_of(const Throw& thrown) {
  const int first = first_of(thrown);
  std::string text;
  int end = first;
  for (; end < thrown.count; ++end) {
    const void* frame = thrown.frames[static_cast<std::size_t>(end)];
    if (in_this_library(frame)) break;
    text += "  #" + std::to_string(end - first) + " " + symbol_name(frame) + "\n";
  }
  const std::span frames(thrown.frames.data() + first, static_cast<std::size_t>(end - first));
  return text + source_lines_command(frames, false);
}

}  // namespace

void note_throws() {
  prepare_frames();
  noting = true;
}

std::string throw_trace(const void* object) {
  const Throw* thrown = place_of(object);
  return thrown == nullptr || thrown->count <= 0 ? "" : text_of(*thrown);
}

namespace {

using ThrowFunction = void (*)(void*, void*, void (*)(void*));

ThrowFunction runtime_throw() {
  static const auto found = reinterpret_cast<ThrowFunction>(dlsym(RTLD_NEXT, "__cxa_throw"));
  return found;
}

}  // namespace
}  // namespace headway::library

/// Found before the C++ runtime's own, since programs link this library first; goes on to that one.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"), noreturn)) void __cxa_throw(void* object, void* type,
                                                                             void (*destroy)(void*)) {
  using namespace headway::library;
  const bool noted = noting.load(std::memory_order_relaxed) && note(object, destroy);
  runtime_throw()(object, type, noted ? end_exception : destroy);
  __builtin_unreachable();
}
