#pragma once

#include "node/node_agent.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headway::driver {

/// The agents of all nodes, and where each worker is. On the driver's loop alone.
class Nodes {
 public:
  explicit Nodes(boost::asio::io_context& loop) : loop_(loop) {}

  void add(const std::string& node_id, std::unique_ptr<node::NodeAgent> agent);
  /// The workers that were there, none of which is there any more.
  std::vector<std::int64_t> remove(const std::string& node_id);
  /// Ends all agents, with their workers. `closed` is called on the loop once nothing of them is
  /// left; until then, this lives.
  void close(std::function<void()> closed);

  /// On every node. A factory that can't be started is an error when a worker is asked for.
  void warm(const std::vector<std::string>& preload);
  void offer(const std::shared_ptr<node::ForkedFactory>& forked);

  /// As NodeAgent does; `unavailable` too when the node is gone.
  Result<void> start_worker(const std::string& node_id, const node::WorkerLaunch& launch, wire::Frame first);
  Result<void> adopt(const std::string& node_id, std::int64_t worker_id, wire::Fd session, wire::Frame first);
  Result<void> lend(const std::string& node_id, node::LentWorker worker);
  void send(std::int64_t worker_id, wire::Frame frame);
  void signal_worker(std::int64_t worker_id, int signal);
  void resume_output();
  /// Its agent ends, and is lost by that.
  void dismiss(const std::string& node_id);
  /// `done` is never called before this returns.
  void examine(std::int64_t worker_id, node::NodeAgent::Examined done);
  /// As NodeAgent does; null too when the node is gone.
  const node::Use* use(const std::string& node_id, bool with_gpus) const;
  /// Of all agents.
  std::vector<pid_t> guards() const;

  /// It has exited.
  void forget(std::int64_t worker_id);

 private:
  struct Node {
    std::unique_ptr<node::NodeAgent> agent;
    std::set<std::int64_t> workers;
  };

  void place(std::int64_t worker_id, const std::string& node_id);
  node::NodeAgent* agent_of(std::int64_t worker_id) const;

  boost::asio::io_context& loop_;
  std::map<std::string, Node> nodes_;
  std::map<std::int64_t, std::string> places_;
};

}  // namespace headway::driver
