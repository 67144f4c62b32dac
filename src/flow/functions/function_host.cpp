#include "flow/functions/function_host.hpp"

#include "core/signals_blocked.hpp"
#include "flow/functions/function_messages.hpp"
#include "node/process.hpp"
#include "wire/blocking_channel.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::size_t last_lines_max = 20;
constexpr std::uint64_t prepared_bytes_max = 64 << 20;
constexpr auto news_wait_max = std::chrono::seconds(2);
constexpr int host_end_ms_max = 500;
/// So many workers have their memory beyond the budget. What others have is of the budget: fewer
/// rows are there at once then.
constexpr std::ptrdiff_t workers_beyond_budget = 2;
constexpr std::int64_t worker_bytes = std::int64_t{24} << 20;
/// Workers never have more than this part of the budget.
constexpr std::int64_t workers_share = 4;

arrow::Status failed(const std::string& what) { return arrow::Status::IOError(what, ": ", wire::reason_of(errno)); }

std::string words_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = sigabbrev_np(signal);
    std::string words = "was killed by " + (name != nullptr ? std::string("SIG") + name : std::to_string(signal));
    if (signal == SIGKILL) words += " (the system does that when memory runs out)";
    return words;
  }
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

struct Pair {
  wire::Fd ours;
  wire::Fd theirs;
};

arrow::Result<Pair> stream_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed("cannot make a socket");
  return Pair{wire::Fd(ends[0]), wire::Fd(ends[1])};
}

arrow::Result<Pair> pipe_pair() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("cannot make a pipe");
  return Pair{wire::Fd(ends[0]), wire::Fd(ends[1])};
}

/// A worker as its host's thread knows it.
struct Known {
  std::string name;
  wire::Fd output;
  std::string line;  ///< That is not complete yet.
  std::deque<std::string> last_lines;
  std::optional<std::string> end;
  bool ended_with_host = false;
  bool let_go = false;  ///< Nobody will ask for its end.
  Credit memory = {};

  bool runs() const { return !let_go && !end; }
};

}  // namespace

class FunctionHost::State {
 public:
  State(FunctionHostLaunch launch, OutputSink output)
      : launch_(std::move(launch)), gpus_(launch_.gpus), sink_(std::move(output)) {
    if (!sink_) {
      sink_ = [](const std::string& line) {
        std::fprintf(stdout, "%s\n", line.c_str());
        std::fflush(stdout);
      };
    }
  }

  Budget* budget() const { return launch_.budget; }
  GpuShares& gpus() { return gpus_; }

  arrow::Status open() {
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return failed("cannot make an event descriptor");
    wake_ = wire::Fd(fd);
    const std::lock_guard lock(mutex_);
    return launch_host();
  }

  void send(const wire::Frame& frame) {
    const std::lock_guard lock(mutex_);
    if (wire::send_frame(control_->get(), frame)) return;
    // The thread learns of the host's end too; the next worker is started by another host.
  }

  arrow::Result<StartedWorker> start_worker(const std::string& name, const std::string& folder,
                                            const std::optional<std::string>& gpus) {
    ARROW_ASSIGN_OR_RAISE(Pair link, stream_pair());
    ARROW_ASSIGN_OR_RAISE(Pair output, pipe_pair());
    const std::lock_guard lock(mutex_);
    const std::int64_t id = ++last_worker_;
    wire::Frame frame = wire::to_frame(StartWorker{id, folder, gpus});
    frame.fds.push_back(std::move(link.theirs));
    frame.fds.push_back(std::move(output.theirs));
    if (!control_->is_open()) ARROW_RETURN_NOT_OK(launch_host());
    if (!wire::send_frame(control_->get(), frame)) {
      end_host();
      ARROW_RETURN_NOT_OK(launch_host());
      if (auto sent = wire::send_frame(control_->get(), frame); !sent) {
        return arrow::Status::IOError("the process for Python functions has ended twice: ", sent.error().message);
      }
    }
    Known& known = workers_[id];
    known.name = name;
    known.output = std::move(output.ours);
    known.memory = memory_of_another();
    wake();
    return StartedWorker{id, std::move(link.ours)};
  }

  /// With the mutex held, the other one being known.
  Credit memory_of_another() const {
    if (launch_.budget == nullptr) return {};
    std::ptrdiff_t running = 0;
    std::int64_t left = launch_.budget->bytes() / workers_share;
    for (const auto& [id, known] : workers_) {
      running += known.runs() ? 1 : 0;
      left -= known.memory.bytes();
    }
    if (running <= workers_beyond_budget || left <= 0) return {};
    return launch_.budget->take(std::min(worker_bytes, left));
  }

  std::string end_of(std::int64_t worker) {
    std::unique_lock lock(mutex_);
    const auto found = await_end(worker, lock);
    if (found == workers_.end()) return "has ended";
    std::string words = found->second.end.value_or("has ended");
    if (!found->second.last_lines.empty()) {
      words += "; the last lines that it printed:";
      for (const std::string& line : found->second.last_lines) words += "\n  " + line;
    }
    workers_.erase(found);
    return words;
  }

  bool has_ended_with(std::int64_t worker) {
    std::unique_lock lock(mutex_);
    const auto found = await_end(worker, lock);
    return found != workers_.end() && found->second.ended_with_host;
  }

  void kill_worker(std::int64_t worker) {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return;
    found->second.let_go = true;
    found->second.memory.give_back();
    if (!found->second.output.is_open()) {
      workers_.erase(found);
    } else if (!wire::send_frame(control_->get(), wire::to_frame(KillWorker{worker}))) {
      end_host();
    }
  }

  /// The thread of the host, until `stop`.
  void watch() {
    while (true) {
      std::vector<pollfd> watched;
      std::vector<std::int64_t> ids;
      std::shared_ptr<wire::Fd> control;
      {
        const std::lock_guard lock(mutex_);
        if (stopped_) return;
        watched.push_back({wake_.get(), POLLIN, 0});
        control = control_;
        watched.push_back({control->get(), POLLIN, 0});  // -1 is skipped.
        for (const auto& [id, known] : workers_) {
          if (!known.output.is_open()) continue;
          watched.push_back({known.output.get(), POLLIN, 0});
          ids.push_back(id);
        }
      }
      if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[0].revents != 0) clear_wake();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (watched[i + 2].revents != 0) read_output(ids[i]);
      }
      if (watched[1].revents != 0) read_control(control);
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    end_host();
    wake();
  }

 private:
  std::map<std::int64_t, Known>::iterator await_end(std::int64_t worker, std::unique_lock<std::mutex>& lock) {
    const auto over = [&] {
      const auto found = workers_.find(worker);
      return found == workers_.end() || (found->second.end && !found->second.output.is_open());
    };
    news_.wait_for(lock, news_wait_max, over);
    return workers_.find(worker);
  }

  /// With the mutex.
  arrow::Status launch_host() {
    ARROW_ASSIGN_OR_RAISE(Pair control, stream_pair());
    node::ProcessLaunch launch;
    launch.command = launch_.command;
    launch.env = launch_.environment;
    launch.inherited = {control.theirs.get()};
    if (launch.command.empty()) {
      return arrow::Status::Invalid("this client gave no command for Python functions, and the plan has some");
    }
    const Result<pid_t> started = node::launch_process(launch);
    if (!started) return arrow::Status::IOError(started.error().message);
    pid_ = *started;
    control_ = std::make_shared<wire::Fd>(std::move(control.ours));
    wake();
    return arrow::Status::OK();
  }

  /// With the mutex. Its workers end with it, and what they have started: by the host, which sees
  /// the end of the control socket.
  void end_host() {
    if (pid_ > 0) {
      if (control_->is_open()) shutdown(control_->get(), SHUT_RDWR);
      const wire::Fd host(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
      pollfd ended{host.get(), POLLIN, 0};
      if (host.is_open()) poll(&ended, 1, host_end_ms_max);
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
    control_ = std::make_shared<wire::Fd>();
    for (auto& [id, known] : workers_) {
      if (known.end) continue;
      known.end = "ended with the process that had started it";
      known.memory.give_back();
      known.ended_with_host = true;
    }
    news_.notify_all();
  }

  void read_control(const std::shared_ptr<wire::Fd>& control) {
    auto frame = wire::receive_frame(control->get(), wire::messages_of<FromFunctionHost>);
    const std::lock_guard lock(mutex_);
    if (control != control_) return;
    if (!frame || !*frame) {
      end_host();
      return;
    }
    const auto message = wire::from_frame<FromFunctionHost>(**frame);
    if (!message) return;
    const auto& ended = std::get<FunctionWorkerEnded>(*message);
    const auto found = workers_.find(ended.worker);
    if (found == workers_.end()) return;
    found->second.end = ended.problem.empty() ? words_of(ended.status) : "could not be started: " + ended.problem;
    found->second.memory.give_back();
    news_.notify_all();
  }

  void read_output(std::int64_t id) {
    std::vector<std::string> lines;
    {
      const std::lock_guard lock(mutex_);
      const auto found = workers_.find(id);
      if (found == workers_.end()) return;
      Known& known = found->second;
      char bytes[4096];
      const ssize_t count = read(known.output.get(), bytes, sizeof(bytes));
      if (count < 0 && errno == EINTR) return;
      if (count <= 0) {
        known.output.close();
        if (!known.line.empty()) lines.push_back(std::exchange(known.line, {}));
        news_.notify_all();
        if (known.let_go && lines.empty()) workers_.erase(found);
        if (lines.empty()) return;
      } else {
        known.line.append(bytes, static_cast<std::size_t>(count));
        take_lines(known.line, lines);
      }
      for (std::string& line : lines) {
        known.last_lines.push_back(line);
        if (known.last_lines.size() > last_lines_max) known.last_lines.pop_front();
        line = "(" + known.name + " #" + std::to_string(id) + ") " + line;
      }
    }
    for (const std::string& line : lines) sink_(line);
  }

  static void take_lines(std::string& text, std::vector<std::string>& lines) {
    constexpr std::size_t line_max = 1 << 16;
    std::size_t begin = 0;
    while (true) {
      const std::size_t end = text.find_first_of("\r\n", begin);
      if (end == std::string::npos) break;
      if (end > begin) lines.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
    if (text.size() > line_max) lines.push_back(std::exchange(text, {}));
  }

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  }

  void clear_wake() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof(count));
  }

  const FunctionHostLaunch launch_;
  GpuShares gpus_;
  OutputSink sink_;
  wire::Fd wake_;
  std::mutex mutex_;
  std::condition_variable news_;
  /// The thread that reads keeps it open.
  std::shared_ptr<wire::Fd> control_ = std::make_shared<wire::Fd>();
  pid_t pid_ = -1;
  bool stopped_ = false;
  std::int64_t last_worker_ = 0;
  std::map<std::int64_t, Known> workers_;
};

FunctionHost::FunctionHost(std::shared_ptr<State> state) : state_(std::move(state)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([state = state_] { state->watch(); });
}

arrow::Result<std::shared_ptr<FunctionHost>> FunctionHost::start(FunctionHostLaunch launch, OutputSink output) {
  auto state = std::make_shared<State>(std::move(launch), std::move(output));
  ARROW_RETURN_NOT_OK(state->open());
  return std::shared_ptr<FunctionHost>(new FunctionHost(std::move(state)));
}

Budget* FunctionHost::budget() const { return state_->budget(); }
GpuShares& FunctionHost::gpus() const { return state_->gpus(); }

FunctionHost::~FunctionHost() {
  state_->stop();
  thread_.join();
}

void FunctionHost::prepare(const std::string& pickled, const std::vector<std::string>& modules) {
  const bool small = pickled.size() <= prepared_bytes_max;
  state_->send(
      wire::to_frame(PrepareFunctions{modules}, small ? std::make_shared<const std::string>(pickled) : nullptr));
}

arrow::Result<StartedWorker> FunctionHost::start_worker(const std::string& name, const std::string& folder,
                                                        const std::optional<std::string>& gpus) {
  return state_->start_worker(name, folder, gpus);
}

std::string FunctionHost::end_of(std::int64_t worker) { return state_->end_of(worker); }

bool FunctionHost::has_ended_with(std::int64_t worker) const { return state_->has_ended_with(worker); }

void FunctionHost::kill_worker(std::int64_t worker) { state_->kill_worker(worker); }

}  // namespace headway::flow
