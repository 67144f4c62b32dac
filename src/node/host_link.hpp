#pragma once

#include "node/worker_source.hpp"
#include "wire/channel.hpp"
#include "wire/guest_messages.hpp"

#include <boost/asio.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headway::node {

/// A guest's line to its host: what it asks for, and who hears the answers. Lives on the guest's
/// event loop.
class HostLink {
 public:
  /// Takes `fd`, and blocks for the first message. Errors: `unknown_outcome` when the host is gone.
  static Result<std::unique_ptr<HostLink>> open(boost::asio::io_context& loop, int fd);
  ~HostLink();

  const std::string& node_id() const { return node_id_; }
  /// What there is, as the host has said last. Any thread may ask for `total`.
  const Resources& total() const { return total_; }
  const Resources& available() const { return available_; }

  template <class M>
  void send(const M& message, std::vector<wire::Fd> fds = {}) {
    wire::Frame frame = wire::to_frame(message);
    frame.fds = std::move(fds);
    channel_->send(std::move(frame));
  }

  boost::asio::io_context& loop() { return loop_; }

  /// Nothing is heard any more, and the host takes back what is this guest's.
  void close() { channel_->close(); }

  /// From now on this hears of the worker.
  void follow(std::int64_t worker_id, const WorkerSource::Handlers& handlers) { followed_[worker_id] = handlers; }
  std::function<void(wire::HostGranted)> on_granted;
  std::function<void(wire::HostPending)> on_pending;
  std::function<void(wire::HostRefused)> on_refused;
  /// The connection broke: nothing that was asked for is answered any more.
  std::function<void(const Error& error)> on_ended;

 private:
  HostLink(boost::asio::io_context& loop, wire::Fd fd, const wire::HostResources& resources);
  Result<void> take(const wire::Frame& frame);
  void end(const Error& error);

  boost::asio::io_context& loop_;
  std::string node_id_;
  Resources total_;
  Resources available_;
  std::shared_ptr<wire::Channel> channel_;
  std::map<std::int64_t, WorkerSource::Handlers> followed_;
};

/// A factory of the host's, as a guest's agent sees it.
class HostedFactory : public WorkerSource {
 public:
  HostedFactory(HostLink& host, std::vector<std::string> preload, Handlers handlers)
      : host_(&host), preload_(std::move(preload)), handlers_(std::move(handlers)) {
    host_->send(wire::GuestWarm{preload_});
  }

  /// Standard error goes where the output goes: see Agent::start_worker.
  void spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, WorkerEnds ends) override {
    host_->follow(worker_id, handlers_);
    std::vector<wire::Fd> fds;
    fds.push_back(std::move(ends.session));
    fds.push_back(std::move(ends.output));
    host_->send(wire::GuestSpawn{worker_id, preload_, env}, std::move(fds));
  }
  void signal(std::int64_t worker_id, int signal) override { host_->send(wire::GuestSignal{worker_id, signal}); }
  bool idle() const override { return false; }  // The host's own to know.
  void hold_until(LeaseTime) const override {}  // The host's own factory holds it.
  void leave(std::function<void()> ended) override { boost::asio::post(host_->loop(), std::move(ended)); }
  pid_t guard_pid() const override { return 0; }
  pid_t process() const override { return 0; }

 private:
  HostLink* host_;
  std::vector<std::string> preload_;
  Handlers handlers_;
};

}  // namespace headway::node
