#include "node/early_factory.hpp"

#include "wire/fork_guard.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <sys/socket.h>

namespace headway::node {

Result<std::unique_ptr<EarlyFactory>> EarlyFactory::start(const FactoryConfig& config) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorKind::unavailable, "cannot make a socket for the worker factory: " + wire::reason_of(errno)};
  }
  wire::Fd told(ends[0]);
  const wire::Fd listener(ends[1]);
  Result<ForkedFactory> started = start_factory(config, {told_by, "5"}, {listener.get()});
  if (!started) return started.error();
  return std::unique_ptr<EarlyFactory>(new EarlyFactory(std::move(*started), std::move(told), config.limits));
}

EarlyFactory::EarlyFactory(ForkedFactory started, wire::Fd told, GuardLimits limits)
    : forked_(std::make_shared<ForkedFactory>(std::move(started))), told_(std::move(told)), limits_(limits) {
  wire::drop_in_children(told_.get());
  wire::drop_in_children(forked_->control.get());
}

bool EarlyFactory::tell(std::string_view line) {
  if (!told_.is_open()) return false;
  const ssize_t sent = send(told_.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(line.size());
}

const std::shared_ptr<ForkedFactory>& EarlyFactory::hand_over(std::vector<std::string> preload) {
  wire::keep_in_children(told_.get());
  told_.close();
  forked_->preload = std::move(preload);
  return forked_;
}

void EarlyFactory::end() {
  if (told_.is_open()) {
    wire::keep_in_children(told_.get());
    told_.close();
  }
  if (forked_->control.is_open()) wire::keep_in_children(forked_->control.get());
  end_untaken(*forked_, limits_, [](const std::string& text) { std::fprintf(stderr, "headway: %s\n", text.c_str()); });
}

}  // namespace headway::node
