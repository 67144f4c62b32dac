#include "feed/address.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace headway::feed {
namespace {

constexpr int waiting_clients_max = 4096;

Result<wire::Fd> new_socket() {
  wire::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Where a program has no standard output, children would take it for theirs, and keep it.
  if (socket.is_open() && socket.get() <= STDERR_FILENO) {
    socket = socket.copy();
  }
  if (!socket.is_open()) return Error{ErrorKind::unavailable, "cannot make a socket: " + wire::reason_of(errno)};
  return socket;
}

}  // namespace

Result<Listening> listen_somewhere() {
  Result<wire::Fd> socket = new_socket();
  if (!socket) return socket.error();
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // An address of the family alone: the kernel binds a free abstract name.
  if (::bind(socket->get(), reinterpret_cast<const sockaddr*>(&name), sizeof(sa_family_t)) != 0 ||
      ::listen(socket->get(), waiting_clients_max) != 0) {
    return Error{ErrorKind::unavailable, "cannot listen on a socket: " + wire::reason_of(errno)};
  }
  socklen_t size = sizeof(name);
  if (::getsockname(socket->get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return Error{ErrorKind::unavailable, "cannot name a socket: " + wire::reason_of(errno)};
  }
  const std::size_t length = size - offsetof(sockaddr_un, sun_path) - 1;
  return Listening{std::move(*socket), "@" + std::string(name.sun_path + 1, length)};
}

Result<wire::Fd> connect_to(const std::string& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.size() < 2 || address.front() != '@' || address.size() > sizeof(name.sun_path)) {
    return Error{ErrorKind::invalid_argument, "\"" + address + "\" is no address of a data process"};
  }
  Result<wire::Fd> socket = new_socket();
  if (!socket) return socket.error();
  std::memcpy(name.sun_path + 1, address.data() + 1, address.size() - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    return Error{ErrorKind::unavailable, "the data process at " + address + " is not there: " + wire::reason_of(errno)};
  }
  if (!is_of_this_user(socket->get())) {
    return Error{ErrorKind::refused, "the process that listens at " + address + " belongs to another user"};
  }
  return socket;
}

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace headway::feed
