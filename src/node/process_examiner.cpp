#include "node/process_examiner.hpp"

#include "core/text.hpp"
#include "node/guard.hpp"
#include "node/guard_wait.hpp"
#include "node/process.hpp"
#include "node/process_state.hpp"
#include "node/stack_text.hpp"
#include "wire/fork_guard.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace headway::node {

namespace asio = boost::asio;

namespace {

constexpr auto native_limit = std::chrono::seconds(30);
constexpr auto plain_limit = std::chrono::seconds(10);
constexpr std::size_t output_max = 8 << 20;

std::string read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

/// The system may have to be asked more than once: py-spy with native frames first, then without
/// touching the process.
struct ProcessExaminer::Look {
  Look(asio::io_context& loop, pid_t examined, Done told)
      : pid(examined), done{std::move(told)}, output(loop), limit(loop) {}
  ~Look() { close_life(); }

  void close_life() {
    if (life_fd < 0) return;
    wire::keep_in_children(life_fd);
    Guard::tell(life_fd, Guard::farewell);
    ::close(std::exchange(life_fd, -1));
  }

  pid_t pid;
  std::vector<Done> done;  ///< All who have asked.
  char state = '\0';
  ProcessSeen seen;
  bool native = false;
  pid_t guard = 0;
  int life_fd = -1;  ///< The guard ends py-spy and itself when it is closed.
  asio::posix::stream_descriptor output;
  asio::steady_timer limit;
  std::array<char, 65536> buffer{};
  std::string printed;
  std::string trouble;  ///< Why the first way did not work.
  /// While py-spy's output is read; a handler that comes later finds it gone.
  std::shared_ptr<void> running;
};

/// The guards that are waited for, which may take longer than the examiner lives.
struct ProcessExaminer::Ends {
  int awaited = 0;
  std::function<void()> closed;
};

ProcessExaminer::ProcessExaminer(asio::io_context& loop, ExaminerConfig config)
    : loop_(loop), config_(std::move(config)), ends_(std::make_shared<Ends>()) {}

ProcessExaminer::~ProcessExaminer() {
  close([] {});
}

void ProcessExaminer::close(std::function<void()> closed) {
  for (const auto& look : std::exchange(looks_, {})) {
    look->close_life();
    if (look->guard != 0) await_end(look->guard);
  }
  ends_->closed = std::move(closed);
  if (ends_->awaited == 0) asio::post(loop_, std::exchange(ends_->closed, nullptr));
}

void ProcessExaminer::await_end(pid_t guard) {
  ++ends_->awaited;
  await_guard(loop_, {guard, "the guard of py-spy"}, nullptr, [ends = ends_] {
    if (--ends->awaited == 0 && ends->closed) std::exchange(ends->closed, nullptr)();
  });
}

void ProcessExaminer::examine(pid_t pid, Done done) {
  for (const auto& look : looks_) {
    if (look->pid != pid) continue;
    look->done.push_back(std::move(done));
    return;
  }
  looks_.push_back(std::make_unique<Look>(loop_, pid, std::move(done)));
  if (looks_.size() == 1) begin_next();
}

void ProcessExaminer::begin_next() {
  if (looks_.empty()) return;
  Look& look = *looks_.front();
  look.state = process_state(look.pid);
  look.seen.pid = has_ended(look.state) ? 0 : look.pid;
  look.seen.cpu_s = process_cpu_s(look.pid);
  if (has_ended(look.state) || config_.own_stacks) {
    finish("");
  } else if (config_.py_spy.empty()) {
    finish("its stack is not shown: py-spy is not installed (pip install py-spy)\n");
  } else {
    // py-spy would wait for a process that can't be paused.
    start(look.state == 'R' || look.state == 'S' || look.state == 'I');
  }
}

void ProcessExaminer::start(bool native) {
  Look& look = *looks_.front();
  look.native = native;
  look.printed.clear();
  int life[2];
  int output[2];
  if (pipe2(life, O_CLOEXEC) != 0) return finish(std::string("its stack is not shown: ") + std::strerror(errno) + "\n");
  if (pipe2(output, O_CLOEXEC) != 0) {
    const std::string why = std::strerror(errno);
    ::close(life[0]);
    ::close(life[1]);
    return finish("its stack is not shown: " + why + "\n");
  }
  ProcessLaunch launch;
  launch.command = {config_.guard_path, "3", config_.py_spy, "dump", "--json", "--pid", std::to_string(look.pid)};
  launch.command.emplace_back(native ? "--native" : "--nonblocking");
  launch.env["RUST_BACKTRACE"] = "0";
  launch.output_fd = output[1];
  launch.inherited = {life[0]};
  const Result<pid_t> guard = launch_process(launch);
  ::close(life[0]);
  ::close(output[1]);
  look.life_fd = life[1];
  wire::drop_in_children(life[1]);
  look.output.assign(output[0]);
  if (!guard) return finish("its stack is not shown: " + guard.error().message + "\n");
  look.guard = *guard;
  look.limit.expires_after(native ? native_limit : plain_limit);
  look.running = std::make_shared<char>();
  look.limit.async_wait([this, running = std::weak_ptr(look.running)](const boost::system::error_code& failure) {
    if (failure || running.expired()) return;
    looks_.front()->trouble = "py-spy did not come to an end";
    stop_tool();
  });
  read_more();
}

void ProcessExaminer::read_more() {
  Look& look = *looks_.front();
  const auto take = [this, running = std::weak_ptr(look.running)](const boost::system::error_code& failure,
                                                                  std::size_t count) {
    if (failure == asio::error::operation_aborted || running.expired()) return;
    Look& reading = *looks_.front();
    reading.printed.append(reading.buffer.data(), count);
    if (failure) {
      on_end();
    } else if (reading.printed.size() > output_max) {
      reading.trouble = "py-spy printed more than 8 MiB";
      stop_tool();
    } else {
      read_more();
    }
  };
  look.output.async_read_some(asio::buffer(look.buffer), take);
}

/// Both py-spy and its guard have closed their output, so they have ended.
void ProcessExaminer::on_end() {
  Look& look = *looks_.front();
  look.running.reset();
  look.limit.cancel();
  look.output.close();
  look.close_life();
  await_end(std::exchange(look.guard, 0));
  const Result<std::string> stacks = stack_text(look.printed);
  if (stacks) {
    look.seen.importing = module_imported(look.printed);
    const std::string note = look.trouble.empty() ? "" : "native frames are not shown: " + look.trouble + "\n";
    return finish(note + *stacks);
  }
  if (look.trouble.empty()) look.trouble = failure_text(look.printed);
  if (look.native) return start(false);
  finish("its stack is not shown: " + look.trouble + "\n");
}

/// Time is up. The guard ends py-spy, and is reaped once it can.
void ProcessExaminer::stop_tool() {
  Look& look = *looks_.front();
  look.running.reset();
  look.limit.cancel();
  look.output.close();
  look.close_life();
  await_end(std::exchange(look.guard, 0));
  if (look.native) return start(false);
  finish("its stack is not shown: " + look.trouble + "\n");
}

/// py-spy's own words, and where it was refused what this machine lacks.
std::string ProcessExaminer::failure_text(const std::string& printed) const {
  std::string last;
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', begin), printed.size());
    const std::string line = printed.substr(begin, end - begin);
    if (line.find_first_not_of(" \t") != std::string::npos) last = line.substr(line.find_first_not_of(" \t"));
    begin = end + 1;
  }
  std::string text = "py-spy: " + to_utf8(last.substr(0, 300));
  const bool refused = printed.find("ermission") != std::string::npos || printed.find("EPERM") != std::string::npos ||
                       printed.find("not permitted") != std::string::npos;
  if (!refused) return text;
  std::string scope = read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  while (!scope.empty() && scope.back() == '\n') scope.pop_back();
  text += " (reading another process needs ptrace: ";
  if (scope == "2" || scope == "3") {
    text += "kernel.yama.ptrace_scope is " + scope + " here, which forbids it without CAP_SYS_PTRACE";
  } else {
    text += "a container may need --cap-add=SYS_PTRACE";
  }
  return text + ")";
}

void ProcessExaminer::finish(const std::string& text) {
  Look& look = *looks_.front();
  look.seen.text = process_state_text(look.pid, look.state) + "\n" + text;
  // Not at once: whoever asks gets the answer after the question.
  asio::post(loop_, [done = std::move(look.done), seen = std::move(look.seen)] {
    for (const Done& each : done) each(seen);
  });
  looks_.pop_front();
  begin_next();
}

}  // namespace headway::node
