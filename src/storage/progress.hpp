#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace headway::storage {

/// How far a long piece of work on files is.
struct Progress {
  std::uint64_t bytes = 0;
  std::uint64_t bytes_total = 0;
  std::size_t files = 0;
  std::size_t files_total = 0;
};

/// Told at the start, after every step of about a megabyte and after every file; on any thread, never on two at once. It must not
/// throw.
using OnProgress = std::function<void(const Progress&)>;

/// So many more bytes of a file are done.
using OnBytes = std::function<void(std::uint64_t)>;

/// Adds up what several threads do. Must outlive what `on_bytes` gave.
class ProgressMeter {
 public:
  ProgressMeter(std::size_t files_total, std::uint64_t bytes_total, const OnProgress& told) : told_(told) {
    progress_.files_total = files_total;
    progress_.bytes_total = bytes_total;
    if (told_) told_(progress_);
  }

  /// Empty when nobody wants to know.
  OnBytes on_bytes() {
    if (!told_) return {};
    return [this](std::uint64_t bytes) { add(bytes, 0); };
  }

  /// A file is done; `bytes_left` of it were not told.
  void finish_file(std::uint64_t bytes_left = 0) {
    if (told_) add(bytes_left, 1);
  }

  /// All of them are done.
  void finish() {
    if (told_) add(progress_.bytes_total, progress_.files_total - progress_.files);
  }

 private:
  void add(std::uint64_t bytes, std::size_t files) {
    const std::lock_guard lock(mutex_);
    // What was read again after a failure counts once.
    progress_.bytes = std::min(progress_.bytes + bytes, progress_.bytes_total);
    progress_.files += files;
    told_(progress_);
  }

  const OnProgress& told_;
  std::mutex mutex_;
  Progress progress_;
};

}  // namespace headway::storage
