#pragma once

#include "wire/fd.hpp"
#include "wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Connected sockets and pipes that are closed with the test.
namespace headway::wire {

using Descriptor = Fd;

/// Two ends: of a socket (both ways) or of a pipe (`a` reads, `b` writes).
struct Ends {
  Descriptor a;
  Descriptor b;
};

inline Ends make_socket() {
  std::array<int, 2> fds{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

inline Ends make_pipe() {
  std::array<int, 2> fds{};
  BOOST_REQUIRE(::pipe2(fds.data(), O_CLOEXEC) == 0);
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

inline void write_all(int fd, std::string_view text) {
  BOOST_REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

inline std::string bytes_of(const FrameHeader& header) {
  return {reinterpret_cast<const char*>(&header), sizeof(header)};
}

/// Any message of these tests: kinds "plain" and "small", the latter without a raw part.
inline constexpr std::array<Carried, 2> test_kinds = {Carried{"plain", unbounded}, Carried{"small", control_bounds}};

/// A frame of the kind "plain".
inline Frame plain(const std::string& text, Blob blob = nullptr) {
  return {R"({"is":"plain","fields":")" + text + "\"}", std::move(blob)};
}

inline Frame plain_with(const std::string& text, std::vector<Fd> fds, Blob blob = nullptr) {
  Frame frame = plain(text, std::move(blob));
  frame.fds = std::move(fds);
  return frame;
}

template <class... F>
std::vector<Fd> list_of(F... fds) {
  std::vector<Fd> list;
  (list.push_back(std::move(fds)), ...);
  return list;
}

/// How many descriptors this process has open.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

inline bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

/// Whether every writing end is closed: nothing is there to read, and nothing will be.
inline bool at_end(int fd) {
  char byte = 0;
  return ::read(fd, &byte, 1) == 0;
}

/// 64 MiB that differ from place to place.
inline Blob big_blob() {
  std::string bytes(64 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i * 2654435761U) >> 24);
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace headway::wire
