#include "library/exception_text.hpp"

#include "core/lost_peer.hpp"
#include "core/text.hpp"
#include "library/symbol_name.hpp"
#include "library/throw_trace.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <typeinfo>

namespace headway::library {
namespace {

std::string type_of_current() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  std::string name = type == nullptr ? "an unknown exception" : demangled(type->name());
  // What std::throw_with_nested makes of a type.
  constexpr std::string_view nested = "std::_Nested_exception<";
  if (name.starts_with(nested) && name.ends_with('>'))
    name = name.substr(nested.size(), name.size() - nested.size() - 1);
  return name;
}

/// The object that was thrown, of whatever type: an exception_ptr is a pointer to it.
const void* current_object() {
  const std::exception_ptr current = std::current_exception();
  const void* object = nullptr;
  static_assert(sizeof(current) == sizeof(object));
  std::memcpy(static_cast<void*>(&object), static_cast<const void*>(&current), sizeof(object));
  return object;
}

std::string frames_of(const void* object) {
  const std::string frames = throw_trace(object);
  return frames.empty() ? "" : "Backtrace of the throw (innermost first):\n" + frames;
}

/// What led to an exception, newest first.
void add_causes(const std::exception& error, std::string& text, int depth) {
  constexpr int depth_max = 20;
  if (depth >= depth_max) return;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    text += "Caused by " + type_of_current() + ": " + to_utf8(cause.what()) + "\n" + frames_of(current_object());
    add_causes(cause, text, depth + 1);
  } catch (...) {
    text += "Caused by " + type_of_current() + "\n" + frames_of(current_object());
  }
}

}  // namespace

RankError describe_current_exception() {
  RankError described;
  described.type = type_of_current();
  described.traceback = frames_of(current_object());
  try {
    throw;
  } catch (const std::exception& error) {
    described.message = to_utf8(error.what());
    add_causes(error, described.traceback, 0);
  } catch (const std::string& text) {
    described.message = to_utf8(text);
  } catch (const char* text) {
    described.message = to_utf8(text == nullptr ? "" : text);
  } catch (...) {
    described.message = "(it is no std::exception, so it has no words)";
  }
  described.echo = tells_of_lost_peer(described.message);
  return described;
}

}  // namespace headway::library
