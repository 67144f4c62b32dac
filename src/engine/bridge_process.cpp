#include "engine/bridge_process.hpp"

#include "engine/bridge_messages.hpp"
#include "node/process.hpp"
#include "wire/fork_guard.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::engine {

namespace asio = boost::asio;

namespace {

constexpr std::size_t unwritten_max = 4 << 20;

Error no_descriptors() { return {ErrorKind::unavailable, "cannot start it: " + wire::reason_of(errno)}; }

/// What is written to `second` can be read from `first`.
Result<void> make_pipe(wire::Fd& first, wire::Fd& second) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return no_descriptors();
  first = wire::Fd(ends[0]);
  second = wire::Fd(ends[1]);
  return {};
}

void take(asio::posix::stream_descriptor& stream, wire::Fd& fd) {
  wire::drop_in_children(fd.get());
  stream.assign(fd.release());
  stream.non_blocking(true);
}

void close(asio::posix::stream_descriptor& stream) {
  if (!stream.is_open()) return;
  wire::keep_in_children(stream.native_handle());
  boost::system::error_code ignored;
  stream.close(ignored);
}

/// -1 when it is closed, which poll passes over.
int handle_of(asio::posix::stream_descriptor& stream) { return stream.is_open() ? stream.native_handle() : -1; }

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "by signal " + std::to_string(WTERMSIG(status));
  return "with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::shared_ptr<BridgeProcess>> BridgeProcess::start(asio::io_context& loop,
                                                            const std::vector<std::string>& command,
                                                            const std::map<std::string, std::string>& env, Ears ears) {
  std::array<int, 2> ends{};
  // A socket: what is written to one whose reader is gone raises no SIGPIPE.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return no_descriptors();
  wire::Fd input(ends[0]);
  wire::Fd input_of_bridge(ends[1]);
  wire::Fd output;
  wire::Fd output_of_bridge;
  wire::Fd errors;
  wire::Fd errors_of_bridge;
  if (auto made = make_pipe(output, output_of_bridge); !made) return made.error();
  if (auto made = make_pipe(errors, errors_of_bridge); !made) return made.error();
  node::ProcessLaunch launch;
  launch.command = command;
  launch.env = env;
  launch.input_fd = input_of_bridge.get();
  launch.output_fd = output_of_bridge.get();
  launch.error_fd = errors_of_bridge.get();
  const Result<pid_t> pid = node::launch_process(launch);
  if (!pid) return pid.error();
  wire::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!process.is_open()) {
    const Error failure = errno == ENOSYS ? Error{ErrorKind::unavailable,
                                                  "an engine needs pidfd_open of Linux 5.3 or newer, which is not here"}
                                          : no_descriptors();
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
    return failure;
  }
  const std::shared_ptr<BridgeProcess> self(new BridgeProcess(loop));
  self->pid_ = *pid;
  self->ears_ = std::move(ears);
  take(self->input_, input);
  take(self->output_.stream, output);
  take(self->errors_.stream, errors);
  take(self->process_, process);
  self->watch();
  return self;
}

BridgeProcess::~BridgeProcess() { leave(std::chrono::milliseconds(0)); }

void BridgeProcess::watch() {
  read(output_, ears_.line);
  read(errors_, ears_.error_line);
  process_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [here = weak_from_this()](const boost::system::error_code& failure) {
                        const auto self = here.lock();
                        if (self && !failure && !self->leaves_) self->reap();
                      });
}

void BridgeProcess::read(Pipe& pipe, const std::function<void(std::string)>& ear) {
  pipe.stream.async_wait(asio::posix::stream_descriptor::wait_read,
                         [here = weak_from_this(), &pipe, &ear](const boost::system::error_code& failure) {
                           const auto self = here.lock();
                           if (!self || failure) return;
                           if (read_some(pipe, ear)) self->read(pipe, ear);
                         });
}

bool BridgeProcess::read_some(Pipe& pipe, const std::function<void(std::string)>& ear) {
  std::array<char, 16384> buffer;
  const ssize_t count = ::read(pipe.stream.native_handle(), buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  pipe.partial.append(buffer.data(), static_cast<std::size_t>(count));
  std::size_t begin = 0;
  for (std::size_t end = pipe.partial.find('\n'); end != std::string::npos; end = pipe.partial.find('\n', begin)) {
    if (ear) ear(pipe.partial.substr(begin, end - begin));
    begin = end + 1;
  }
  pipe.partial.erase(0, begin);
  // Nobody writes lines like that: it is heard in parts.
  if (pipe.partial.size() > bridge_line_max) {
    if (ear) ear(pipe.partial);
    pipe.partial.clear();
  }
  return count > 0;
}

/// What it has written before its end is heard before its end is.
void BridgeProcess::reap() {
  const auto self = shared_from_this();
  int status = 0;
  const bool known = ::waitpid(std::exchange(pid_, 0), &status, 0) > 0;
  constexpr int reads_max = 64;  // A process that it has left behind may go on writing.
  for (auto [pipe, ear] : {std::pair(&output_, &ears_.line), std::pair(&errors_, &ears_.error_line)}) {
    pollfd readable{pipe->stream.native_handle(), POLLIN, 0};
    for (int i = 0; i < reads_max && ::poll(&readable, 1, 0) > 0; ++i) {
      if (!read_some(*pipe, *ear)) break;
    }
    if (!pipe->partial.empty()) (*ear)(std::exchange(pipe->partial, {}));
  }
  const auto ended = std::move(ears_.ended);
  deafen();
  ended(known ? how_it_ended(status) : "in a way that is not known");
}

bool BridgeProcess::write(const std::string& line) {
  if (leaves_) return true;
  unwritten_ += line;
  unwritten_ += '\n';
  flush();
  return unwritten_.size() <= unwritten_max;
}

/// True when all is written, or nobody will ever read it.
bool BridgeProcess::flush_some() {
  while (!unwritten_.empty() && input_.is_open()) {
    const ssize_t count = ::send(input_.native_handle(), unwritten_.data(), unwritten_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno != EAGAIN && errno != EWOULDBLOCK;
    unwritten_.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

void BridgeProcess::flush() {
  if (writes_) return;
  if (flush_some()) {
    unwritten_.clear();
    if (leaves_) close_input();
    return;
  }
  writes_ = true;
  input_.async_wait(asio::posix::stream_descriptor::wait_write,
                    [here = weak_from_this()](const boost::system::error_code& failure) {
                      const auto self = here.lock();
                      if (!self || failure) return;
                      self->writes_ = false;
                      self->flush();
                    });
}

void BridgeProcess::close_input() { close(input_); }

void BridgeProcess::kill() const {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

/// Its output is still read: a program that it runs must not die of a pipe that is closed.
void BridgeProcess::deafen() {
  if (std::exchange(leaves_, true)) return;
  ears_ = {};
  flush();
}

void BridgeProcess::leave(std::chrono::milliseconds limit) {
  deafen();
  if (pid_ != 0) ::kill(-pid_, SIGCONT);  // One that was stopped takes back what it has made, too.
  const auto end = std::chrono::steady_clock::now() + limit;
  bool has_ended = pid_ == 0;
  while (!has_ended) {
    if (flush_some()) close_input();
    std::array<pollfd, 4> watched{{{process_.native_handle(), POLLIN, 0},
                                   {handle_of(output_.stream), POLLIN, 0},
                                   {handle_of(errors_.stream), POLLIN, 0},
                                   {handle_of(input_), POLLOUT, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0) break;
    has_ended = watched[0].revents != 0;
    if (watched[1].revents != 0 && !read_some(output_, {})) close(output_.stream);
    if (watched[2].revents != 0 && !read_some(errors_, {})) close(errors_.stream);
  }
  close_input();
  close(output_.stream);
  close(errors_.stream);
  close(process_);
  if (pid_ == 0) return;
  if (!has_ended) ::kill(-pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, 0), nullptr, 0);
}

}  // namespace headway::engine
