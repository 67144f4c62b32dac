// headway-data: the data process of a machine. Its clients start it with a listening socket as
// descriptor 3.
#include "flow/server.hpp"
#include "storage/remote/remote.hpp"
#include "wire/process_title.hpp"

#include <arrow/compute/initialize.h>
#include <arrow/config.h>

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_to_end = 5;

/// Each function worker takes four descriptors, each stream and open file some more. Function
/// workers inherit the limit, and programs that close all descriptors below it should not take
/// long.
void allow_descriptors() {
  constexpr rlim_t enough = 1 << 16;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, enough);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);  // Else it stays as it is: errors name the limit.
}

/// URLs are opened by the library that is installed beside this program, with the Arrow that this
/// program has.
void find_arrow() {
  std::error_code failure;
  const fs::path program = fs::canonical("/proc/self/exe", failure);
  Dl_info library_of_arrow{};
  if (failure || dladdr(reinterpret_cast<const void*>(&arrow::GetBuildInfo), &library_of_arrow) == 0) return;
  auto found = headway::storage::arrow_libraries_in((program.parent_path().parent_path() / "lib").string(),
                                                    fs::path(library_of_arrow.dli_fname).parent_path().string());
  if (headway::storage::are_installed(found)) headway::storage::set_arrow_libraries(std::move(found));
}

}  // namespace

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
  allow_descriptors();
  find_arrow();
  {
    headway::flow::Server server{headway::wire::Fd(listening)};
    server.run();
    // What is under way ends by itself. What does not, such as a listing that hangs, must not keep
    // the process: SIGALRM ends it.
    alarm(seconds_to_end);
  }
  // Arrow's own threads and filesystems are left as they are: nothing of them outlives the process.
  _exit(0);
}
