#include "node/process.hpp"

#include "node/guard.hpp"
#include "wire/fd.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headway::node {
namespace {

std::vector<std::string> merged_environment(std::map<std::string, std::string> added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The descriptors to inherit are lifted above all of them and of their targets first, so that no
/// dup2 overwrites one still to come.
void add_descriptors(posix_spawn_file_actions_t& actions, const ProcessLaunch& launch) {
  const int output = launch.output_fd >= 0 ? launch.output_fd : STDERR_FILENO;
  std::vector<std::pair<int, int>> moves{{output, STDOUT_FILENO},
                                         {launch.error_fd >= 0 ? launch.error_fd : output, STDERR_FILENO}};
  if (launch.input_fd >= 0) moves.emplace_back(launch.input_fd, STDIN_FILENO);
  for (std::size_t i = 0; i < launch.inherited.size(); ++i) {
    moves.emplace_back(launch.inherited[i], 3 + static_cast<int>(i));
  }
  int lift = 0;
  for (const auto& [from, to] : moves) lift = std::max({lift, from, to});
  ++lift;
  if (launch.input_fd < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, moves[i].first, lift + static_cast<int>(i));
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, lift + static_cast<int>(i), moves[i].second);
    posix_spawn_file_actions_addclose(&actions, lift + static_cast<int>(i));
  }
}

}  // namespace

Result<pid_t> launch_process(const ProcessLaunch& launch) {
  std::vector<std::string> command = launch.command;
  std::vector<std::string> environment = merged_environment(launch.env);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  add_descriptors(actions, launch);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, command.front().c_str(), &actions, &attributes, pointers(command).data(),
                                   pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return Error{ErrorKind::unavailable, "cannot start " + command.front() + ": " + std::strerror(failure)};
  }
  return pid;
}

std::string program_on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string found = folder + "/" + name;
    if (!folder.empty() && access(found.c_str(), X_OK) == 0) return found;
  }
  return {};
}

namespace {

/// A child that had not ended when it was let go, and whose child it is: a fork inherits the list.
struct LeftChild {
  std::int32_t parent = 0;
  std::int32_t pid = 0;
};

/// No lock: a fork in another thread would leave it held. What finds no place stays a zombie until
/// this process ends.
std::array<std::atomic<LeftChild>, 64> left_children;

void leave(pid_t child) {
  for (auto& place : left_children) {
    LeftChild none;
    if (place.compare_exchange_strong(none, {getpid(), child})) return;
  }
}

/// Whether it has ended, and is reaped if so.
bool ends_within(pid_t child, std::chrono::milliseconds limit) {
  const wire::Fd process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (process.is_open()) {
    pollfd end{process.get(), POLLIN, 0};
    // Its descriptor is readable a moment before it can be reaped.
    const int how_long = poll(&end, 1, static_cast<int>(limit.count())) > 0 ? 0 : WNOHANG;
    return waitpid(child, nullptr, how_long) != 0;
  }
  // A kernel before 5.3.
  constexpr auto between = std::chrono::milliseconds(5);
  for (auto waited = between.zero(); waitpid(child, nullptr, WNOHANG) == 0; waited += between) {
    if (waited >= limit) return false;
    poll(nullptr, 0, static_cast<int>(between.count()));
  }
  return true;
}

}  // namespace

void reap_within(pid_t child, std::chrono::milliseconds limit) {
  reap_left();
  if (!ends_within(child, limit)) leave(child);
}

void reap_left() {
  for (auto& place : left_children) {
    const LeftChild left = place.load();
    if (left.pid == 0) continue;
    // Another thread may have found it too: the one that takes it out reaps it.
    LeftChild taken = left;
    if (!place.compare_exchange_strong(taken, {})) continue;
    if (left.parent == getpid() && waitpid(left.pid, nullptr, WNOHANG) == 0) leave(left.pid);
  }
}

void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

int count_threads() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
  if (!tasks) return 0;
  int count = 0;
  while (const dirent* entry = readdir(tasks.get())) count += entry->d_name[0] != '.';
  return count;
}

void allow_examination() {
  const char* agent = std::getenv(agent_variable);
  if (agent != nullptr) prctl(PR_SET_PTRACER, std::strtoul(agent, nullptr, 10), 0, 0, 0);
}

std::vector<pid_t> children_of_this_process() { return children_of(getpid()); }

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(std::fopen(path.c_str(), "re"), std::fclose);
  int pid = 0;
  while (list && std::fscanf(list.get(), "%d", &pid) == 1) children.push_back(pid);
  return children;
}

void close_descriptors_except(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned int first = 0;
  for (int fd : kept) {
    if (static_cast<unsigned int>(fd) > first) close_range(first, static_cast<unsigned int>(fd) - 1, 0);
    first = static_cast<unsigned int>(fd) + 1;
  }
  close_range(first, ~0U, 0);
}

}  // namespace headway::node
