#pragma once

#include <map>
#include <string>

namespace headway {
struct DataProgress;
}

namespace headway::library {

/// Does a worker's work and ends the process; never returns. Takes the session's socket.
[[noreturn]] void work(int session_fd, const std::map<std::string, std::string>& env);

/// Tells the driver how long this rank waits for a data set; does nothing outside of a rank.
void tell_data_progress(const DataProgress& progress);

}  // namespace headway::library
