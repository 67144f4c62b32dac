#pragma once

#include <headway/result.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headway::dashboard {

/// A file to which somebody else adds lines: gives each whole line once. Used from one thread at a
/// time.
class GrowingFile {
 public:
  explicit GrowingFile(std::string location) : location_(std::move(location)) {}

  /// Calls `line` for each whole line that has come since the last call. When the file was replaced
  /// by a shorter one, `restart` is called first, and all lines come again. Of a remote file, which
  /// costs a request, no more often than each five seconds. A file that is not there has no lines.
  Result<void> read(const std::function<void()>& restart, const std::function<void(std::string_view)>& line);

 private:
  std::string location_;
  std::uint64_t read_ = 0;
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace headway::dashboard
