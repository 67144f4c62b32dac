#pragma once

#include <headway/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace headway::driver {

/// A file that grows by whole pieces. A piece that was appended survives the death of this process
/// (not a loss of power); one that could not be written whole, on a full disk say, leaves nothing
/// of itself behind, so the file stays readable.
///
/// Opened by the first `append` and held open. Used from one thread at a time.
class AppendFile {
 public:
  explicit AppendFile(std::string path) : path_(std::move(path)) {}
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  const std::string& path() const { return path_; }

  /// Adds to what the file holds; makes the file when it is not there. Errors: `unavailable`.
  Result<void> append(std::string_view piece);

  /// What was appended survives the death of the machine from then on. Errors: `unavailable`.
  Result<void> sync();

  /// Opens the file anew at the next `append`: somebody has replaced it.
  void reopen();

 private:
  Result<void> open();
  Error failed() const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace headway::driver
