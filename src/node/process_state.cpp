#include "node/process_state.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace headway::node {
namespace {

/// The fields of /proc/<pid>/stat from the third (the state) on: the second, the name in brackets,
/// may hold anything. Empty: no such process.
std::string stat_fields(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat", std::ios::binary);
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? "" : stat.substr(name_end + 2);
}

std::vector<pid_t> children_of_all_threads(pid_t process) {
  std::vector<pid_t> children;
  std::error_code failure;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator task(tasks, failure), end; !failure && task != end;
       task.increment(failure)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

char process_state(pid_t pid) {
  const std::string fields = stat_fields(pid);
  return fields.empty() ? '\0' : fields.front();
}

double process_cpu_s(pid_t pid) {
  constexpr int user_time_field = 14;
  std::istringstream fields(stat_fields(pid));
  std::string field;
  for (int number = 3; number < user_time_field; ++number) fields >> field;
  double user_ticks = 0;
  double system_ticks = 0;
  if (!(fields >> user_ticks >> system_ticks)) return 0;
  return (user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string process_state_text(pid_t pid, char state) {
  switch (state) {
    case 'R': return "running";
    case 'S':
    case 'I': return "waiting in a system call";
    case 'D':
      return "in a system call that cannot be interrupted (a disk or a network file system that does not answer?)";
    case 'T': return "stopped (SIGSTOP); `kill -CONT " + std::to_string(pid) + "` resumes it";
    case 't': return "stopped by a debugger";
    case 'Z':
    case 'X':
    case '\0': return "its process has ended";
    default: return std::string("in state ") + state;
  }
}

bool is_stopped(char state) { return state == 'T'; }

bool has_ended(char state) { return state == '\0' || state == 'Z' || state == 'X'; }

std::optional<ExitStatus> unreaped_status(pid_t pid) {
  constexpr int exit_code_field = 52;
  std::istringstream fields(stat_fields(pid));
  std::string field;
  if (!(fields >> field) || field != "Z") return std::nullopt;
  for (int number = 4; number <= exit_code_field; ++number) fields >> field;
  const int status = std::atoi(field.c_str());
  if (!fields) return std::nullopt;
  return ExitStatus{WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), ""};
}

std::vector<pid_t> living_descendants(pid_t process) {
  std::vector<pid_t> found = children_of_all_threads(process);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const pid_t child : children_of_all_threads(found[i])) found.push_back(child);
  }
  std::erase_if(found, [](pid_t pid) { return has_ended(process_state(pid)); });
  return found;
}

}  // namespace headway::node
