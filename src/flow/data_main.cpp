// headway-data: the data process of a machine. Its clients start it with a listening socket as
// descriptor 3.
#include "flow/server.hpp"
#include "wire/process_title.hpp"

#include <arrow/compute/initialize.h>

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

int main() {
  constexpr int listening = 3;
  if (fcntl(listening, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(stderr, "headway-data is started by Headway, with a socket\n");
    return 2;
  }
  headway::wire::set_process_title("headway: data", "headway-data");
  if (const arrow::Status ready = arrow::compute::Initialize(); !ready.ok()) {
    std::fprintf(stderr, "headway-data: %s\n", ready.ToString().c_str());
    return 1;
  }
  {
    headway::flow::Server server{headway::wire::Fd(listening)};
    server.run();
  }
  // Arrow's own threads and filesystems are left as they are: nothing of them outlives the process.
  _exit(0);
}
