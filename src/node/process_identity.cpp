#include "node/process_identity.hpp"

#include "core/may_block.hpp"

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

/// From /proc/<pid>/stat the 22nd field. The second is the program's name in brackets and may hold
/// anything. 0: no such process.
std::int64_t started_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t started = 0;
  fields >> started;
  return started;
}

}  // namespace

ProcessIdentity identity_of(pid_t pid) { return {pid, started_of(pid)}; }

bool is_alive(const ProcessIdentity& process) { return !wait_for_end(process, std::chrono::milliseconds(0)); }

/// A descriptor of the process tells, not its state: of one that is being killed the first thread
/// may be dead, and be shown as a zombie, while others still hold its files.
bool wait_for_end(const ProcessIdentity& process, std::chrono::milliseconds limit) {
  if (limit.count() > 0) may_block("a process's end is waited for");
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  if (pidfd < 0) return true;
  // Asked with the descriptor in hand: it is this process's, or one's that came after it.
  bool ended = started_of(process.pid) != process.started;
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
