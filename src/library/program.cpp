#include "library/program.hpp"

#include "driver/runtime.hpp"
#include "library/agent_mode.hpp"
#include "library/batch_functions.hpp"
#include "library/data_client.hpp"
#include "library/init_options.hpp"
#include "library/own_dashboard.hpp"
#include "library/start_options.hpp"
#include "library/train_loops.hpp"
#include "library/validations.hpp"
#include "library/worker_bridge.hpp"
#include "library/worker_main.hpp"
#include "node/factory_server.hpp"
#include "node/guard.hpp"
#include "node/guard_wait.hpp"
#include "node/process.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <mutex>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::library {
namespace {

/// What a process that is entered again is to be. Taken out of the environment at once, so that
/// what it starts itself is not.
constexpr const char* role_variable = "HEADWAY_ENTER_AS";
/// How many runs this process is within.
constexpr const char* depth_variable = "HEADWAY_DEPTH";
constexpr int depth_max = 4;
constexpr int control_fd = 3;
constexpr int life_fd = 4;
constexpr int session_fd = 3;
/// The number of the factory's process follows.
const std::string worker_role = "worker ";
/// The program that was started, also after its file was replaced.
constexpr const char* own_program = "/proc/self/exe";

struct Program {
  std::mutex mutex;
  bool entered = false;
  bool left = false;           ///< There was a Main.
  std::optional<Error> error;  ///< Why this program can't train, found by the constructor of Main.
  std::vector<std::string> arguments;
  std::shared_ptr<node::ForkedFactory> forked;
  std::shared_ptr<driver::Runtime> runtime;
  std::string join_address;  ///< Empty: nothing listens.
  std::unique_ptr<dashboard::Dashboard> dashboard;
};

/// Never destroyed: a run may be under way in another thread while static objects end.
Program& program() {
  static Program& made = *new Program;
  return made;
}

bool starts_by_exec() {
  const char* start = std::getenv("HEADWAY_WORKER_START");
  return start != nullptr && std::strcmp(start, "exec") == 0;
}

std::optional<Error> check_start_setting() {
  const char* start = std::getenv("HEADWAY_WORKER_START");
  if (start == nullptr || std::strcmp(start, "fork") == 0 || std::strcmp(start, "exec") == 0) return std::nullopt;
  return Error{ErrorKind::invalid_argument, "HEADWAY_WORKER_START is \"" + std::string(start) +
                                                "\" in the environment; allowed: \"fork\" (default) or \"exec\""};
}

std::vector<std::string> own_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{own_program};
  if (!arguments.empty()) command.insert(command.end(), arguments.begin() + 1, arguments.end());
  return command;
}

/// Before main(), in a program that is entered again as factory: should it never come to Main, it
/// ends with its driver all the same.
const bool bound_to_driver = [] {
  const char* role = std::getenv(role_variable);
  const char* driver = std::getenv(node::agent_variable);
  const bool is_factory = role != nullptr && driver != nullptr && std::strcmp(role, "factory") == 0;
  if (is_factory) node::die_with(std::atoi(driver));
  return is_factory;
}();

/// The factory's whole life, and then that of each worker that it forks.
[[noreturn]] void serve_as_factory(int fd, const std::vector<std::string>& arguments) {
  // For those that are started by exec.
  setenv(role_variable, (worker_role + std::to_string(getpid())).c_str(), 1);
  node::FactoryServer server(wire::Fd(fd), {::fork, own_command(arguments), starts_by_exec(), true});
  if (!server.announce({})) _exit(1);
  auto worker = server.serve();
  if (!worker) _exit(0);
  unsetenv(role_variable);
  work(worker->session.release(), worker->env);
}

/// This process becomes the guard, and its child the factory.
[[noreturn]] void serve_as_guard(int control, int life, pid_t driver, const std::vector<std::string>& arguments) {
  // From now on the pipe says when the driver ends.
  if (bound_to_driver) prctl(PR_SET_PDEATHSIG, 0);
  node::Guard guard(life, driver);
  const pid_t factory = guard.fork_command();
  if (factory == 0) serve_as_factory(control, arguments);
  if (factory < 0) {
    std::fprintf(stderr, "headway: no process can be made for the worker factory: %s\n", std::strerror(errno));
    _exit(1);
  }
  _exit(guard.watch(factory));
}

/// Between fork and the guard's work: nothing of the driver's but its memory.
void leave_driver(int control, int life) {
  setsid();
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  node::close_descriptors_except({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, control, life});
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
}

Error system_error(const char* what) {
  return {ErrorKind::unavailable, std::string("headway::Main cannot make ") + what + ": " + std::strerror(errno)};
}

/// In the driver: guard and factory as forks of this process, while it has one thread.
std::optional<Error> fork_factory(Program& self) {
  const int threads = node::count_threads();
  if (threads != 1) {
    return Error{ErrorKind::invalid_argument, "headway::Main was constructed when the program had " +
                                                  std::to_string(threads) +
                                                  " threads already, so its workers can't be forked; construct it "
                                                  "first in main(), or, where a library starts "
                                                  "threads as it is loaded, set HEADWAY_WORKER_START=exec"};
  }
  int control[2];
  int life[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0) return system_error("a socket");
  if (pipe2(life, O_CLOEXEC | O_NONBLOCK) != 0) return system_error("a pipe");
  std::cout.flush();
  std::fflush(nullptr);  // What is in buffers now would be written by every worker again.
  const pid_t driver = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    leave_driver(control[1], life[0]);
    serve_as_guard(control[1], life[0], driver, self.arguments);
  }
  close(control[1]);
  close(life[0]);
  if (pid < 0) {
    Error error = system_error("a process");
    close(control[0]);
    close(life[1]);
    return error;
  }
  self.forked =
      std::make_shared<node::ForkedFactory>(node::ForkedFactory{wire::Fd(control[0]), wire::Fd(life[1]), pid});
  return std::nullopt;
}

int number(const char* text) {
  int value = -1;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

/// A worker that was started by exec.
[[noreturn]] void enter_as_worker(pid_t factory) {
  node::die_with(factory);
  fcntl(session_fd, F_SETFD, FD_CLOEXEC);
  work(session_fd, {});
}

int depth() {
  const char* variable = std::getenv(depth_variable);
  return variable == nullptr ? 0 : std::max(0, number(variable));
}

Result<void> check_names_and_depth() {
  if (depth() >= depth_max) {
    return Error{ErrorKind::invalid_argument, std::string(depth_variable) + " is " + std::to_string(depth()) +
                                                  " in the environment: this program runs in a worker of a run in a "
                                                  "worker, and so on; allowed: runs within runs up to " +
                                                  std::to_string(depth_max) + " deep, and this one would be the next"};
  }
  if (auto fits = check_loop_names(); !fits) return fits;
  if (auto fits = check_validation_names(); !fits) return fits;
  return check_batch_function_names();
}

Result<void> check_driver(const Program& self) {
  if (self.left && !self.entered) {
    return Error{
        ErrorKind::invalid_argument,
        "this program's headway::Main has ended already; allowed: an object with a name, which lives until the "
        "end of main(): `headway::Main guard(argc, argv);`"};
  }
  if (!self.entered) {
    return Error{ErrorKind::invalid_argument,
                 "this program has no headway::Main; write `headway::Main guard(argc, argv);` as the first line of "
                 "main() and keep "
                 "it until the end, so that workers can be started"};
  }
  if (self.error) return *self.error;
  return check_names_and_depth();
}

driver::RuntimeConfig runtime_config() {
  driver::RuntimeConfig config;
  config.factory.env = {{role_variable, "factory"}};
  config.factory.entrance = "headway::Main";
  config.factory.own_stacks = true;
  return config;
}

/// Under the program's lock, when there is no runtime yet.
Result<void> start_runtime(Program& self, const StartOptions& options) {
  driver::RuntimeConfig base = runtime_config();
  base.factory.command = own_command(self.arguments);
  base.factory.forked = self.forked;
  auto config = with_options(std::move(base), options);
  if (!config) return config.error();
  if (auto fits = driver::validate(*config); !fits) return fits;
  const auto dashboard_port = wanted_dashboard(options.dashboard);
  if (!dashboard_port) return dashboard_port.error();
  const bool listens = config->join.has_value();
  auto runtime = std::make_shared<driver::Runtime>(std::move(*config));
  if (listens) {
    Result<std::string> address = runtime->listen();
    if (!address) return address.error();
    self.join_address = *address;
  }
  if (*dashboard_port) {
    auto dashboard = open_dashboard(*runtime, **dashboard_port);
    if (!dashboard) return dashboard.error();
    self.dashboard = std::move(*dashboard);
  }
  self.runtime = std::move(runtime);
  return {};
}

/// In a process that validates a checkpoint. Its workers are forked by its driver's factory; what
/// is left of them at its end, the driver ends.
Result<std::shared_ptr<driver::Runtime>> guest_runtime() {
  static std::mutex mutex;
  static auto& runtime = *new std::shared_ptr<driver::Runtime>;
  const std::lock_guard lock(mutex);
  if (auto able = check_names_and_depth(); !able) return able.error();
  if (!runtime) {
    const Result<int> socket = worker_opens_runtime();
    if (!socket) return socket.error();
    driver::RuntimeConfig config = runtime_config();
    config.host_fd = *socket;
    runtime = std::make_shared<driver::Runtime>(std::move(config));
  }
  return runtime;
}

}  // namespace

bool enter_program(int argc, char** argv) {
  const char* role = std::getenv(role_variable);
  const std::string entered_as = role == nullptr ? "" : role;
  unsetenv(role_variable);
  const std::vector<std::string> arguments(argv, argv + argc);
  if (entered_as == "factory") serve_as_guard(control_fd, life_fd, node::agent_of_this_process(), arguments);
  if (argc > 1 && std::strcmp(argv[1], agent_argument) == 0 && entered_as.empty()) {
    node::FactoryConfig factory = runtime_config().factory;
    factory.command = {own_program};
    serve_as_agent(arguments, std::move(factory));
  }
  if (entered_as.starts_with(worker_role)) enter_as_worker(number(entered_as.c_str() + worker_role.size()));
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  if (self.entered) {
    self.error =
        Error{ErrorKind::invalid_argument, "this program has two objects of headway::Main; allowed: one, in main()"};
    return false;
  }
  self.entered = true;
  self.arguments = arguments;
  self.error = check_start_setting();
  if (!self.error && !starts_by_exec()) self.error = fork_factory(self);
  return true;
}

void leave_program() {
  if (worker_context() != nullptr || in_validation()) return;
  leave_data_process();
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  self.dashboard.reset();
  if (self.runtime) self.runtime->shutdown();
  self.runtime.reset();
  self.join_address.clear();
  if (self.forked) {
    const auto notice = [](const std::string& text) { std::fprintf(stderr, "headway: %s\n", text.c_str()); };
    node::end_untaken(*self.forked, {}, notice);
  }
  self.forked.reset();
  self.error.reset();
  self.entered = false;
  self.left = true;
}

Result<std::shared_ptr<driver::Runtime>> driver_runtime() {
  // Before the lock, which a forked worker has as the constructor of Main held it.
  if (worker_context() != nullptr) {
    return Error{ErrorKind::invalid_argument,
                 "Trainer::fit() was called inside a training loop; start the run from the driver, or in a "
                 "validation function, instead"};
  }
  if (in_validation()) return guest_runtime();
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  if (auto able = check_driver(self); !able) return able.error();
  if (!self.runtime) {
    if (auto started = start_runtime(self, {}); !started) return started.error();
  }
  return self.runtime;
}

Result<void> start_driver(const StartOptions& options) {
  if (worker_context() != nullptr || in_validation()) {
    return Error{ErrorKind::invalid_argument, "headway::init() was called in a worker; allowed: in the driver"};
  }
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  if (auto able = check_driver(self); !able) return able;
  if (self.runtime) {
    return Error{ErrorKind::invalid_argument,
                 "headway::init() was called when Headway was started already; allowed: once, before the first run"};
  }
  return start_runtime(self, options);
}

std::string address_of_driver() {
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  return self.join_address;
}

std::string address_of_dashboard() {
  Program& self = program();
  const std::lock_guard lock(self.mutex);
  return self.dashboard ? self.dashboard->url() : "";
}

void enter_depth() { setenv(depth_variable, std::to_string(depth() + 1).c_str(), 1); }

}  // namespace headway::library
