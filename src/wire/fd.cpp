#include "wire/fd.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace headway::wire {

void Fd::close() {
  if (fd_ >= 0) ::close(release());
}

Fd Fd::copy() const { return Fd(::fcntl(fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)); }

std::string reason_of(int error_number) {
  std::string reason = std::strerror(error_number);
  rlimit limit{};
  if (error_number == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    reason += " (pid " + std::to_string(::getpid()) + " may have " + std::to_string(limit.rlim_cur) +
              " descriptors open; raise the limit with `ulimit -n`)";
  }
  return reason;
}

}  // namespace headway::wire
