#include "storage/python_exception.hpp"

#include "storage/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace headway::storage {
namespace {

constexpr std::array<std::string_view, 8> lasting_classes = {
    "PermissionError", "NotADirectoryError", "IsADirectoryError",   "TypeError",
    "ValueError",      "AttributeError",     "NotImplementedError", "ImportError"};
constexpr std::array<int, 6> lasting_codes = {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, ENAMETOOLONG};

bool is_lasting(const PythonException& raised) {
  const auto lasts = [](const std::string& name) { return std::ranges::count(lasting_classes, name) > 0; };
  return std::ranges::any_of(raised.classes, lasts) || std::ranges::count(lasting_codes, raised.code) > 0 ||
         is_lasting_reason(raised.words);
}

}  // namespace

Error error_of(const PythonException& raised) {
  if (std::ranges::count(raised.classes, "FileNotFoundError") > 0) return {ErrorKind::not_found, raised.words};
  return {is_lasting(raised) ? ErrorKind::refused : ErrorKind::unavailable, raised.words};
}

}  // namespace headway::storage
