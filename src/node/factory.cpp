#include "node/factory.hpp"

#include "node/guard.hpp"
#include "node/process.hpp"
#include "node/process_state.hpp"
#include "wire/factory_messages.hpp"
#include "wire/fork_guard.hpp"

#include <cerrno>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::node {

/// A look for the end of a guard.
struct GuardEnd {
  explicit GuardEnd(boost::asio::io_context& loop) : process(loop), next_look(loop) {}

  boost::asio::posix::stream_descriptor process;  ///< Readable once it has ended.
  boost::asio::steady_timer next_look;
};

namespace {

/// How a process of ours has ended. It stays, to be reaped by whoever waits for it.
std::optional<ExitStatus> end_of(pid_t pid, int how_long) {
  siginfo_t info{};
  const int found = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | how_long);
  if (found != 0 || info.si_pid == 0) return std::nullopt;
  return ExitStatus{info.si_code != CLD_EXITED, info.si_status, ""};
}

}  // namespace

Result<void> Factory::start(const FactoryConfig& config, const std::vector<std::string>& preload) {
  limits_ = config.limits;
  if (config.forked && config.forked->control.is_open()) {
    if (!has_ended(process_state(config.forked->guard_pid))) {
      serve(std::move(*config.forked));
      return {};
    }
    end_untaken(*config.forked, limits_, handlers_.notice);
  }
  entrance_ = config.entrance;
  Result<ForkedFactory> started = start_factory(config, preload);
  if (!started) return started.error();
  serve(std::move(*started));
  return {};
}

void Factory::serve(ForkedFactory started) {
  guard_pid_ = started.guard_pid;
  ready_ = started.is_guard;  // What comes before was done before it was forked.
  life_ = std::move(started.life);
  wire::drop_in_children(life_.get());
  channel_ = std::make_shared<wire::Channel>(loop_, std::move(started.control), wire::messages_of<wire::FromFactory>);
  channel_->start([this](const wire::Frame& frame) { return on_frame(frame); },
                  [this](const std::optional<Error>& error) { on_lost(error); });
}

Factory::~Factory() { leave(nullptr); }

void Factory::leave(std::function<void()> ended) {
  if (channel_) channel_->close();
  if (!life_.is_open()) {
    if (ended) boost::asio::post(loop_, std::move(ended));
    return;
  }
  wire::keep_in_children(life_.get());
  Guard::tell(life_.get(), Guard::farewell);
  life_.close();
  if (!ready_) kill(-guard_pid_, SIGTERM);  // It may not have become a guard yet, and never be one.
  // The guard kills all there is below it and ends; nothing of ours is a zombie then.
  await_guard(loop_, {guard_pid_, "the guard of a worker factory", limits_}, handlers_.notice, std::move(ended));
}

void Factory::spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, WorkerEnds ends) {
  alive_.insert(worker_id);
  wire::Frame frame = wire::to_frame(wire::SpawnWorker{worker_id, env});
  frame.fds.push_back(std::move(ends.session));
  frame.fds.push_back(std::move(ends.output));
  if (ends.errors.is_open()) frame.fds.push_back(std::move(ends.errors));
  channel_->send(std::move(frame));
}

void Factory::signal(std::int64_t worker_id, int signal) {
  if (alive_.contains(worker_id)) channel_->send(wire::to_frame(wire::SignalWorker{worker_id, signal}));
}

void Factory::hold_until(LeaseTime end) const {
  if (life_.is_open()) Guard::tell(life_.get(), end.count());
}

pid_t Factory::process() const {
  const std::vector<pid_t> children = guard_pid_ == 0 ? std::vector<pid_t>{} : children_of(guard_pid_);
  return children.empty() ? 0 : children.front();
}

Result<void> Factory::on_frame(const wire::Frame& frame) {
  Result<wire::FromFactory> message = wire::from_frame<wire::FromFactory>(frame);
  if (!message) return message.error();
  if (const auto* ready = std::get_if<wire::FactoryReady>(&*message)) {
    ready_ = true;
    handlers_.ready(ready->problems);
  } else if (const auto* spawned = std::get_if<wire::WorkerSpawned>(&*message)) {
    handlers_.spawned(spawned->worker_id, spawned->pid, spawned->exec_reason);
  } else if (const auto* ended = std::get_if<wire::WorkerEnded>(&*message)) {
    if (alive_.erase(ended->worker_id) > 0) handlers_.ended(ended->worker_id, ended->status);
  }
  return {};
}

void Factory::on_lost(const std::optional<Error>& error) {
  if (error) {
    report_lost({true, SIGKILL, "the connection to its worker factory broke: " + error->message});
  } else if (ready_ || alive_.empty()) {
    report_lost({true, SIGKILL, "its worker factory died, and it with it"});
  } else {
    await_end_of_guard();
  }
}

/// How a guard that was never ready has ended says why. Its descriptors are closed a moment before
/// its end. Workers that are ordered meanwhile are reported with the others.
void Factory::await_end_of_guard() {
  constexpr std::chrono::milliseconds limit = std::chrono::seconds(10);
  guard_end_ = std::make_shared<GuardEnd>(loop_);
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, guard_pid_, 0));
  // A kernel before 5.3 has no descriptor of a process: it is looked at now and then.
  if (fd < 0) return look_for_end_of_guard(std::chrono::milliseconds(20), limit);
  look_for_end_of_guard(limit, limit);
  guard_end_->process.assign(fd);
  guard_end_->process.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                 [this, weak = std::weak_ptr(guard_end_)](const boost::system::error_code& failure) {
                                   if (failure || weak.expired()) return;
                                   guard_end_.reset();
                                   // It is readable a moment before the guard can be waited for.
                                   report_lost(status_of_unready(end_of(guard_pid_, 0)));
                                 });
}

/// After each `step`, for as long as `left`.
void Factory::look_for_end_of_guard(std::chrono::milliseconds step, std::chrono::milliseconds left) {
  guard_end_->next_look.expires_after(step);
  guard_end_->next_look.async_wait(
      [this, step, left, weak = std::weak_ptr(guard_end_)](const boost::system::error_code& failure) {
        if (failure || weak.expired()) return;
        const std::optional<ExitStatus> status = end_of(guard_pid_, WNOHANG);
        if (!status && left > step) return look_for_end_of_guard(step, left - step);
        guard_end_.reset();
        report_lost(status_of_unready(status));
      });
}

/// What is reported of the workers of a factory that has ended before it was ready.
ExitStatus Factory::status_of_unready(const std::optional<ExitStatus>& end_of_guard) const {
  ExitStatus status = end_of_guard.value_or(ExitStatus{true, SIGKILL, ""});
  status.detail = "it was to be started by a worker factory, which has ended so before it was ready";
  if (!entrance_.empty()) {
    status.detail =
        "it was to be started by a worker factory, which is this program entered again and has ended so before it came "
        "to " +
        entrance_;
  }
  return status;
}

void Factory::report_lost(const ExitStatus& status) {
  // First of all: whoever hears of a worker's end may start another at once, from a factory that
  // lives.
  handlers_.lost();
  for (std::int64_t worker_id : std::exchange(alive_, {})) handlers_.ended(worker_id, status);
}

}  // namespace headway::node
