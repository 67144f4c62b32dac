#include "feed/data_process.hpp"

#include "core/may_block.hpp"
#include "feed/address.hpp"
#include "node/process.hpp"
#include "wire/fork_guard.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headway::feed {
namespace {

Result<wire::Fd> lock_in(const std::string& folder) {
  const std::string path = folder + "/data.lock";
  wire::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) return Error{ErrorKind::unavailable, "cannot open " + path + ": " + wire::reason_of(errno)};
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return Error{ErrorKind::unavailable, "cannot lock " + path + ": " + wire::reason_of(errno)};
  }
  return lock;
}

/// Arrow's allocator returns freed memory to the system after 10 ms, and rows of the next unit
/// would fault the same pages in again: a tenth of the time of a scan. After a second, epochs would
/// still differ by a quarter. The user's variable wins.
constexpr const char* freed_memory_kept = "MIMALLOC_PURGE_DELAY";
constexpr const char* freed_memory_kept_ms = "10000";

}  // namespace

Result<DataProcess> DataProcess::start(const std::string& program, const std::string& folder,
                                       const std::map<std::string, std::string>& environment) {
  node::reap_left();
  if (folder.empty()) return launch(program, environment);
  may_block("a data process is looked for");
  const Result<wire::Fd> lock = lock_in(folder);
  if (!lock) return lock.error();
  const std::string path = folder + "/data.address";
  std::string address;
  std::getline(std::ifstream(path), address);
  if (!address.empty()) {
    if (Result<wire::Fd> life = connect_to(address)) {
      wire::drop_in_children(life->get());
      return DataProcess(address, std::move(*life), 0);
    }
  }
  Result<DataProcess> started = launch(program, environment);
  if (!started) return started;
  errno = 0;
  std::ofstream file(path, std::ios::trunc);
  file << started->address() << '\n';
  file.close();
  if (!file) return Error{ErrorKind::unavailable, "cannot write " + path + ": " + wire::reason_of(errno)};
  return started;
}

/// The first client waits in the socket before the process is there, so the process always has one
/// whose end it sees.
Result<DataProcess> DataProcess::launch(const std::string& program,
                                        const std::map<std::string, std::string>& environment, bool silent) {
  const Result<Listening> listening = listen_somewhere();
  if (!listening) return listening.error();
  Result<wire::Fd> life = connect_to(listening->address);
  if (!life) return life.error();
  node::ProcessLaunch launch;
  launch.command = {program};
  launch.env = environment;
  if (std::getenv(freed_memory_kept) == nullptr) launch.env.emplace(freed_memory_kept, freed_memory_kept_ms);
  launch.inherited = {listening->socket.get()};
  wire::Fd nowhere;
  if (silent || ::fcntl(STDOUT_FILENO, F_GETFD) < 0 || ::fcntl(STDERR_FILENO, F_GETFD) < 0) {
    nowhere = wire::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)).copy();
    launch.output_fd = nowhere.get();
  }
  const Result<pid_t> child = node::launch_process(launch);
  if (!child) return child.error();
  wire::drop_in_children(life->get());
  return DataProcess(listening->address, std::move(*life), *child);
}

DataProcess::~DataProcess() { close(); }

bool DataProcess::has_ended() const { return ends_within(std::chrono::milliseconds(0)); }

bool DataProcess::is_about_to_end() const { return ends_within(std::chrono::milliseconds(500)); }

bool DataProcess::ends_within(std::chrono::milliseconds limit) const {
  pollfd life{life_.get(), POLLRDHUP, 0};
  return life_.is_open() && poll(&life, 1, static_cast<int>(limit.count())) > 0;
}

bool DataProcess::can_load(const std::string& program, const std::map<std::string, std::string>& environment) {
  constexpr int exit_of_loader = 127;
  Result<DataProcess> started = launch(program, environment, true);
  if (!started) return true;
  const pid_t child = std::exchange(started->child_, 0);
  started->close();
  siginfo_t end{};
  while (waitid(P_PID, static_cast<id_t>(child), &end, WEXITED) != 0) {
    if (errno != EINTR) return true;
  }
  return end.si_code != CLD_EXITED || end.si_status != exit_of_loader;
}

void DataProcess::close() {
  if (!life_.is_open()) return;
  wire::keep_in_children(life_.get());
  life_.close();
  // It ends at once, unless it has other clients: then it is left alone, and reaped when another is
  // looked for.
  if (child_ != 0) node::reap_within(child_, std::chrono::milliseconds(500));
}

}  // namespace headway::feed
