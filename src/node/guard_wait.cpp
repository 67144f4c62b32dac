#include "node/guard_wait.hpp"

#include "node/process_state.hpp"
#include "wire/fork_guard.hpp"

#include <cerrno>
#include <csignal>
#include <memory>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace headway::node {
namespace asio = boost::asio;
namespace {

using std::chrono::steady_clock;

/// Between two rounds of killing, and between two looks where the system has no descriptor for a
/// process.
constexpr auto round_time = std::chrono::milliseconds(20);
constexpr int rounds_max = 50;

class GuardWait : public std::enable_shared_from_this<GuardWait> {
 public:
  GuardWait(asio::io_context& loop, EndingGuard guard, std::function<void(const std::string&)> notice,
            std::function<void()> ended)
      : guard_(std::move(guard)),
        notice_(std::move(notice)),
        ended_(std::move(ended)),
        began_(steady_clock::now()),
        process_(loop),
        timer_(loop) {}
  ~GuardWait() { wire::keep_in_children(process_.is_open() ? process_.native_handle() : -1); }
  GuardWait(const GuardWait&) = delete;
  GuardWait& operator=(const GuardWait&) = delete;

  void start() {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, guard_.pid, 0));
    if (fd < 0) return arm(round_time);
    wire::drop_in_children(fd);
    process_.assign(fd);
    process_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [self = shared_from_this()](const boost::system::error_code& failure) {
                          if (!failure) self->reap(0);
                        });
    arm(std::min(guard_.limits.stopped, guard_.limits.end));
  }

 private:
  void arm(steady_clock::duration from_now) {
    timer_.expires_after(from_now);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failure) {
      if (!failure) self->on_timer();
    });
  }

  /// True when the guard is gone, even if somebody else has reaped it. Its descriptor is readable a
  /// moment before it can be reaped: then no WNOHANG.
  bool reap(int how_long) {
    if (done_) return true;
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(guard_.pid, nullptr, how_long);
    } while (reaped < 0 && errno == EINTR);
    if (reaped == 0) return false;
    done_ = true;
    timer_.cancel();
    if (process_.is_open()) {
      wire::keep_in_children(process_.native_handle());
      process_.close();
    }
    if (ended_) std::exchange(ended_, nullptr)();
    return true;
  }

  void on_timer() {
    if (reap(WNOHANG)) return;
    if (killing_) return kill_round();
    const auto took = steady_clock::now() - began_;
    const char state = process_state(guard_.pid);
    if (!is_late(state, took)) return arm(process_.is_open() ? guard_.limits.stopped : round_time);
    killing_ = true;
    if (notice_) notice_(text_of_late(state, took));
    kill_round();
  }

  bool is_late(char state, steady_clock::duration took) const {
    return took >= guard_.limits.end || (took >= guard_.limits.stopped && is_stopped(state));
  }

  std::string text_of_late(char state, steady_clock::duration took) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(took).count();
    std::string text = guard_.role + " (pid " + std::to_string(guard_.pid) + ") has not ended " +
                       std::to_string(seconds) + " s after the order to end: it is " +
                       process_state_text(guard_.pid, state);
    if (!is_stopped(state)) {
      for (const pid_t below : living_descendants(guard_.pid)) {
        text += "; below it pid " + std::to_string(below) + " is " + process_state_text(below, process_state(below));
        break;
      }
    }
    return text + ". It is killed, with all processes below it";
  }

  /// Whoever is orphaned by a round comes to the guard, and is killed by the next; so the guard
  /// goes last.
  void kill_round() {
    const std::vector<pid_t> left = living_descendants(guard_.pid);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    if (left.empty() || ++rounds_ > rounds_max) ::kill(guard_.pid, SIGKILL);
    arm(round_time);
  }

  EndingGuard guard_;
  std::function<void(const std::string&)> notice_;
  std::function<void()> ended_;
  steady_clock::time_point began_;
  asio::posix::stream_descriptor process_;  ///< Readable once the guard has ended.
  asio::steady_timer timer_;
  bool killing_ = false;
  int rounds_ = 0;
  bool done_ = false;
};

}  // namespace

void await_guard(asio::io_context& loop, EndingGuard guard, std::function<void(const std::string&)> notice,
                 std::function<void()> ended) {
  std::make_shared<GuardWait>(loop, std::move(guard), std::move(notice), std::move(ended))->start();
}

}  // namespace headway::node
