#pragma once

#include <map>
#include <string>

namespace headway::library {

/// Does a worker's work and ends the process; never returns. Takes the session's socket.
[[noreturn]] void work(int session_fd, const std::map<std::string, std::string>& env);

}  // namespace headway::library
