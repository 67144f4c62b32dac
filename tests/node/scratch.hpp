#pragma once

#include "wire/sockets.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// What tests of processes need: a folder, files, and news of a process's end.
namespace headway::node {

using wire::at_end;
using wire::Descriptor;
using wire::Ends;
using wire::make_pipe;

/// A temporary directory, gone with the test.
struct Scratch {
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headway-node-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(root); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return root + "/" + name; }

  std::string root;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes all of it, and waits where the pipe is full.
inline void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Until the stream's end.
inline std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = ::read(fd, buffer.data(), buffer.size()); count > 0;
       count = ::read(fd, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

inline std::string read_line(int fd) {
  std::string line;
  for (char byte = 0; ::read(fd, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

/// The end of any process, whoever's child it is.
class Watch {
 public:
  explicit Watch(pid_t pid) : fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

  /// Whether it ends before a time that only a process that stays for ever needs.
  bool ends(int limit_ms = 20'000) const {
    if (fd_.get() < 0) return true;
    pollfd ended{fd_.get(), POLLIN, 0};
    return ::poll(&ended, 1, limit_ms) == 1;
  }

 private:
  Descriptor fd_;
};

/// How a child of this process ended; the exit code, or 128 and the signal.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A log file whose disk does not answer: a pipe that is full, until it is emptied.
struct StalledFile {
  StalledFile() : path(scratch.path("stalled")) {
    (void)::mkfifo(path.c_str(), 0600);
    reader = Descriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    const std::string block(4096, '.');
    while (::write(reader.get(), block.data(), block.size()) > 0) filled += block.size();
  }
  /// What was written but for what had filled the pipe.
  std::string take(std::size_t bytes) {
    std::string taken(filled + bytes, ' ');
    for (std::size_t done = 0; done < taken.size();) {
      pollfd more{reader.get(), POLLIN, 0};
      ::poll(&more, 1, 20'000);
      const ssize_t count = ::read(reader.get(), taken.data() + done, taken.size() - done);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    return taken.substr(filled);
  }

  Scratch scratch;
  std::string path;
  Descriptor reader;
  std::size_t filled = 0;
};

}  // namespace headway::node
