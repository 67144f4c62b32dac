#pragma once

#include <cstdint>
#include <string>

namespace headway {

/// What one look at a worker's process has shown; of a worker that is not started yet, at its
/// factory's.
struct ProcessSeen {
  std::string text;            ///< Lines for the user.
  std::int64_t pid = 0;        ///< Of the process that was looked at; 0: none.
  double cpu_s = 0;            ///< The CPU time that it had used.
  std::string importing = {};  ///< The Python module that it imports, such as "torch._dynamo".
};

}  // namespace headway
