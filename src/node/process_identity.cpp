#include "node/process_identity.hpp"

#include "core/may_block.hpp"
#include "node/process_state.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace headway::node {
namespace {

/// What /proc/<pid>/stat has of a process.
struct Stat {
  char state = '\0';
  int threads = 0;
  std::int64_t started = 0;  ///< 0: no such process.
};

/// The second field is the program's name in brackets and may hold anything.
Stat stat_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  Stat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 20; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.started;
  return stat;
}

/// Kernels before 5.3 have no descriptor of a process: it is looked at now and then. Of one that is
/// being killed the first thread may be a zombie while others still hold its files.
bool wait_by_looking(const ProcessIdentity& process, std::chrono::milliseconds limit) {
  constexpr auto between = std::chrono::milliseconds(5);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const Stat stat = stat_of(process.pid);
    if (stat.started != process.started || (has_ended(stat.state) && stat.threads <= 1)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::poll(nullptr, 0, static_cast<int>(between.count()));
  }
}

}  // namespace

ProcessIdentity identity_of(pid_t pid) { return {pid, stat_of(pid).started}; }

bool is_alive(const ProcessIdentity& process) { return !wait_for_end(process, std::chrono::milliseconds(0)); }

/// A descriptor of the process tells, not its state: of one that is being killed the first thread
/// may be dead, and be shown as a zombie, while others still hold its files.
bool wait_for_end(const ProcessIdentity& process, std::chrono::milliseconds limit) {
  if (limit.count() > 0) may_block("a process's end is waited for");
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  if (pidfd < 0) return errno == ESRCH || wait_by_looking(process, limit);
  // Asked with the descriptor in hand: it is this process's, or one's that came after it.
  bool ended = stat_of(process.pid).started != process.started;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!ended) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watch{pidfd, POLLIN, 0};
    const int ready = ::poll(&watch, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    ended = ready > 0;
    if (ready == 0 || (ready < 0 && errno != EINTR)) break;
  }
  ::close(pidfd);
  return ended;
}

}  // namespace headway::node
