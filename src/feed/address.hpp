#pragma once

#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <string>

/// Where a data process listens: an abstract Unix socket, whose name the kernel chooses. It has no
/// file, and ends with its process. As text: "@" and the name.
namespace headway::feed {

struct Listening {
  wire::Fd socket;
  std::string address;
};

/// Errors: `unavailable`.
Result<Listening> listen_somewhere();

/// Errors: `unavailable`, when nobody listens at the address; `refused`, when the listener belongs
/// to another user; `invalid_argument`, when it is no address.
Result<wire::Fd> connect_to(const std::string& address);

/// Whether the other end of a connection is a process of this user.
bool is_of_this_user(int socket);

}  // namespace headway::feed
