#include "node/factory_server.hpp"

#include "node/process.hpp"
#include "wire/blocking_channel.hpp"
#include "wire/factory_messages.hpp"
#include "wire/process_title.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::node {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

FactoryServer::FactoryServer(wire::Fd control, FactoryHooks hooks)
    : control_(std::move(control)), factory_pid_(getpid()), hooks_(std::move(hooks)) {
  fcntl(control_.get(), F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  allow_examination();
  wire::set_process_title("headway: worker factory", "headway-factory");
  const sigset_t set = watched_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = wire::Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Result<void> FactoryServer::announce(const std::vector<std::string>& problems) {
  return wire::send_frame(control_.get(), wire::to_frame(wire::FactoryReady{problems}));
}

std::optional<ForkedWorker> FactoryServer::serve() {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pollfd watch[2] = {{control_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  while (!done_) {
    if (poll(watch, 2, -1) < 0) {
      if (errno != EINTR) break;
      continue;
    }
    if (watch[1].revents != 0) {
      signalfd_siginfo info{};
      while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGTERM) done_ = true;
      }
      reap();
    }
    if (watch[0].revents != 0 && !done_) {
      if (auto worker = handle_frame()) return worker;
    }
  }
  end_descendants();
  return std::nullopt;
}

/// What cannot be read ends the factory: the agent hears that its workers have ended.
std::optional<ForkedWorker> FactoryServer::handle_frame() {
  Result<std::optional<wire::Frame>> frame = wire::receive_frame(control_.get(), wire::messages_of<wire::ToFactory>);
  // An agent that is gone, between two messages or within one, has said all that it will say.
  if (frame ? !*frame : frame.error().kind == ErrorKind::unknown_outcome) {
    done_ = true;
    return std::nullopt;
  }
  Result<wire::ToFactory> message = frame ? wire::from_frame<wire::ToFactory>(**frame) : frame.error();
  if (!message) return give_up(message.error().message);
  if (const auto* signal = std::get_if<wire::SignalWorker>(&*message)) {
    signal_worker(signal->worker_id, signal->signal);
    return std::nullopt;
  }
  const auto& order = std::get<wire::SpawnWorker>(*message);
  std::vector<wire::Fd>& fds = (*frame)->fds;
  if (fds.size() < 2) return give_up("a SpawnWorker without its descriptors");
  return spawn(order.worker_id, order.env,
               {std::move(fds[0]), std::move(fds[1]), fds.size() == 3 ? std::move(fds[2]) : wire::Fd()});
}

std::optional<ForkedWorker> FactoryServer::give_up(const std::string& why) {
  std::fprintf(stderr, "headway: the worker factory ends, as its agent sent what cannot be read: %s\n", why.c_str());
  done_ = true;
  return std::nullopt;
}

std::optional<ForkedWorker> FactoryServer::spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env,
                                                 WorkerEnds ends) {
  std::string exec_reason;
  pid_t pid = 0;
  const int threads = count_threads();
  if (!hooks_.always_exec && threads != 1) {
    // A lock that another thread holds at the fork stays locked for ever in the child.
    exec_reason = "the worker factory has " + std::to_string(threads) +
                  " threads, so forking is not safe; something that it has loaded "
                  "has started one";
  }
  if (exec_reason.empty() && !hooks_.always_exec) {
    pid = hooks_.fork();
    if (pid == 0) return ForkedWorker{become_worker(std::move(ends)), env};
  } else {
    pid = spawn_by_exec(env, ends);
  }
  if (pid > 0) {
    workers_[pid] = worker_id;
    (void)wire::send_frame(control_.get(), wire::to_frame(wire::WorkerSpawned{worker_id, pid, exec_reason}));
  } else {
    const std::string why = std::string("it could not be started: ") + std::strerror(errno);
    (void)wire::send_frame(control_.get(), wire::to_frame(wire::WorkerEnded{worker_id, {false, 127, why}}));
  }
  return std::nullopt;
}

pid_t FactoryServer::spawn_by_exec(const std::map<std::string, std::string>& env, const WorkerEnds& ends) {
  ProcessLaunch launch;
  launch.command = hooks_.exec_command;
  if (!hooks_.exec_as_is) {
    launch.command.push_back("3");
    launch.command.push_back(std::to_string(factory_pid_));
  }
  launch.env = env;
  launch.output_fd = ends.output.get();
  launch.inherited = {ends.session.get()};
  if (ends.errors.is_open()) {  // The worker itself makes it its standard error.
    launch.inherited.push_back(ends.errors.get());
    launch.command.push_back("4");
  }
  Result<pid_t> pid = launch_process(launch);
  return pid ? *pid : -1;
}

/// In the child: a new process session, so that one signal reaches all that it starts; nothing of
/// the factory's stays open.
wire::Fd FactoryServer::become_worker(WorkerEnds ends) {
  setsid();
  wire::set_process_title("headway: worker", "headway-worker");  // Its session will know more.
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  die_with(factory_pid_);
  allow_examination();
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(ends.output.get(), STDOUT_FILENO);
  dup2(ends.errors.is_open() ? ends.errors.get() : ends.output.get(), STDERR_FILENO);
  ends.output.close();
  ends.errors.close();
  control_.close();
  signals_.close();
  close_descriptors_except({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, ends.session.get()});
  const sigset_t set = watched_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  workers_.clear();
  return std::move(ends.session);
}

void FactoryServer::signal_worker(std::int64_t worker_id, int signal) {
  for (const auto& [pid, id] : workers_) {
    if (id != worker_id) continue;
    if (kill(-pid, signal) != 0) kill(pid, signal);
    return;
  }
}

void FactoryServer::reap() {
  int status = 0;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
    const auto worker = workers_.find(pid);
    if (worker == workers_.end()) {
      // What a stray had started itself.
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) kill_strays();
      continue;
    }
    kill(-pid, SIGKILL);  // What the worker started in its own session.
    ExitStatus exit{WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), ""};
    const std::int64_t id = worker->second;
    workers_.erase(worker);
    kill_strays();
    (void)wire::send_frame(control_.get(), wire::to_frame(wire::WorkerEnded{id, exit}));
  }
}

/// Whoever is our child and no worker was orphaned: by a worker's end, unless it is in the session
/// of one that lives and has merely let it go.
void FactoryServer::kill_strays() {
  for (pid_t child : children_of_this_process()) {
    if (!workers_.contains(child) && !workers_.contains(getsid(child))) kill(child, SIGKILL);
  }
}

void FactoryServer::end_descendants() {
  workers_.clear();
  do {
    kill_strays();
  } while (waitpid(-1, nullptr, 0) >= 0 || errno != ECHILD);
}

}  // namespace headway::node
