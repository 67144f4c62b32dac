#pragma once

#include "node/node_agent.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headway::node {

/// Workers that are there already: the driver's own process, or those that torchrun has started.
/// Nobody here starts, ends or hears them; each has a session over a socket that it came with, and
/// has ended when that has.
class AttachedAgent : public NodeAgent {
 public:
  AttachedAgent(boost::asio::io_context& loop, AgentSink& sink) : loop_(loop), sink_(sink) {}
  ~AttachedAgent() override;

  Result<void> warm(const std::vector<std::string>&) override { return {}; }

  /// `unavailable`: nothing is started here.
  Result<void> start_worker(const WorkerLaunch& launch, wire::Frame first) override;
  Result<void> adopt(std::int64_t id, wire::Fd own, wire::Frame first) override;

  void send(std::int64_t worker_id, wire::Frame frame) override;
  /// The process is not ours to end: its session ends.
  void signal_worker(std::int64_t worker_id, int signal) override;
  void resume_output() override {}
  void examine(std::int64_t worker_id, Examined done) override;

 private:
  void on_closed(std::int64_t worker_id, const std::optional<Error>& error);

  boost::asio::io_context& loop_;
  AgentSink& sink_;
  std::map<std::int64_t, std::shared_ptr<wire::Channel>> sessions_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace headway::node
