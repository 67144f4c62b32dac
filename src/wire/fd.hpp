#pragma once

#include <string>
#include <utility>

namespace headway::wire {

/// Owns a file descriptor and closes it. Moves, does not copy.
class Fd {
 public:
  Fd() = default;
  /// Takes `fd`; -1 is none.
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = other.release();
    }
    return *this;
  }
  ~Fd() { close(); }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// The descriptor is the caller's from now on.
  int release() { return std::exchange(fd_, -1); }
  /// Another descriptor of the same file, closed in programs that are started, and never that of a
  /// standard stream. Not open when there is none left: see errno.
  Fd copy() const;
  void close();

 private:
  int fd_ = -1;
};

/// The system's words for an error number. When there are no descriptors left, the words name the
/// limit.
std::string reason_of(int error_number);

}  // namespace headway::wire
