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

/// Told at the start, after every step of about a megabyte and after every file; on any thread,
/// never on two at once. It must not throw.
using OnProgress = std::function<void(const Progress&)>;

/// So many more bytes of a file are done.
using OnBytes = std::function<void(std::uint64_t)>;

/// Adds up what several threads do. Must outlive what `on_bytes` gave.
class ProgressMeter {
 public:
  /// With `passes`, each byte is counted so many times (read from storage, then written), and
  /// counts once.
  ProgressMeter(std::size_t files_total, std::uint64_t bytes_total, const OnProgress& told, std::uint64_t passes = 1)
      : told_(told), passes_(passes) {
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
    if (told_) add(passes_ * progress_.bytes_total, progress_.files_total - progress_.files);
  }

 private:
  void add(std::uint64_t bytes, std::size_t files) {
    const std::lock_guard lock(mutex_);
    // What was read again after a failure counts once.
    passed_ = std::min(passed_ + bytes, passes_ * progress_.bytes_total);
    progress_.bytes = passed_ / passes_;
    progress_.files += files;
    told_(progress_);
  }

  const OnProgress& told_;
  const std::uint64_t passes_;
  std::mutex mutex_;
  std::uint64_t passed_ = 0;
  Progress progress_;
};

}  // namespace headway::storage
