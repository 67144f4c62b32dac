#include "library/throw_trace.hpp"

#include "library/signal_frames.hpp"
#include "library/symbol_name.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <execinfo.h>

namespace headway::library {
namespace {

constexpr int frames_max = 64;
constexpr std::size_t throws_max = 4;  ///< Destructors may throw and catch while an exception is on its way.

struct Throw {
  const void* object = nullptr;
  std::array<void*, frames_max> frames{};
  int count = 0;
};

std::atomic<bool> noting{false};
thread_local std::array<Throw, throws_max> throws;
thread_local std::size_t next_throw = 0;

void note(const void* object) {
  Throw& place = throws[next_throw++ % throws_max];
  place.object = object;
  place.count = backtrace(place.frames.data(), frames_max);
}

/// The user's frame that threw, or called what did: behind our own __cxa_throw, and that of a sanitizer's, which stands before it.
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
  for (int i = first; i < thrown.count; ++i) {
    const void* frame = thrown.frames[static_cast<std::size_t>(i)];
    if (in_this_library(frame)) break;
    text += "  #" + std::to_string(i - first) + " " + symbol_name(frame) + "\n";
  }
  return text;
}

}  // namespace

void note_throws() {
  prepare_frames();
  noting = true;
}

std::string throw_trace(const void* object) {
  // The newest first: an exception that was caught before may have been at the same place in memory.
  for (std::size_t back = 1; back <= throws_max; ++back) {
    const Throw& thrown = throws[(next_throw - back) % throws_max];
    if (thrown.object == object && thrown.count > 0) return text_of(thrown);
  }
  return "";
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
  if (noting.load(std::memory_order_relaxed)) note(object);
  runtime_throw()(object, type, destroy);
  __builtin_unreachable();
}
