#pragma once

#include <headway/result.hpp>

#include <string>
#include <vector>

namespace headway::storage {

/// An exception of a filesystem that exists only in Python.
struct PythonException {
  std::vector<std::string> classes;  ///< Names of its class and of those that it derives from.
  int code = 0;                      ///< errno, where it has one.
  std::string words;                 ///< "PermissionError: ...".
};

/// As an error of `Files`. What nobody knows may go better next time.
Error error_of(const PythonException& raised);

}  // namespace headway::storage
