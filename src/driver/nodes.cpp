#include "driver/nodes.hpp"

namespace headway::driver {

void Nodes::add(const std::string& node_id, std::unique_ptr<node::NodeAgent> agent) {
  nodes_[node_id].agent = std::move(agent);
}

std::vector<std::int64_t> Nodes::remove(const std::string& node_id) {
  const auto node = nodes_.extract(node_id);
  if (node.empty()) return {};
  for (const std::int64_t worker_id : node.mapped().workers) places_.erase(worker_id);
  return {node.mapped().workers.begin(), node.mapped().workers.end()};
}

void Nodes::place(std::int64_t worker_id, const std::string& node_id) {
  places_[worker_id] = node_id;
  nodes_.at(node_id).workers.insert(worker_id);
}

void Nodes::forget(std::int64_t worker_id) {
  const auto place = places_.extract(worker_id);
  if (place.empty()) return;
  if (const auto node = nodes_.find(place.mapped()); node != nodes_.end()) node->second.workers.erase(worker_id);
}

void Nodes::close(std::function<void()> closed) {
  places_.clear();
  // Whoever goes last lets this go on. An agent must outlive its own end, so it is let go by the
  // loop.
  const std::shared_ptr<void> all_closed(
      nullptr, [this, closed = std::move(closed)](void*) { boost::asio::post(loop_, closed); });
  std::vector<std::string> ids;
  for (const auto& [node_id, node] : nodes_) ids.push_back(node_id);
  for (const std::string& node_id : ids) {
    nodes_.at(node_id).agent->close([this, node_id, all_closed] {
      // Outlived: this lives until `closed` is called.
      boost::asio::post(loop_, [this, node_id, all_closed] { nodes_.erase(node_id); });
    });
  }
}

void Nodes::warm(const std::vector<std::string>& preload) {
  for (const auto& [node_id, node] : nodes_) (void)node.agent->warm(preload);
}

void Nodes::offer(const std::shared_ptr<node::ForkedFactory>& forked) {
  for (const auto& [node_id, node] : nodes_) node.agent->offer(forked);
}

Result<void> Nodes::start_worker(const std::string& node_id, const node::WorkerLaunch& launch, wire::Frame first) {
  const auto node = nodes_.find(node_id);
  if (node == nodes_.end()) return Error{ErrorKind::unavailable, "node " + node_id + " is gone"};
  auto started = node->second.agent->start_worker(launch, std::move(first));
  if (started) place(launch.worker_id, node_id);
  return started;
}

Result<void> Nodes::adopt(const std::string& node_id, std::int64_t worker_id, wire::Fd session, wire::Frame first) {
  auto adopted = nodes_.at(node_id).agent->adopt(worker_id, std::move(session), std::move(first));
  if (adopted) place(worker_id, node_id);
  return adopted;
}

Result<void> Nodes::lend(const std::string& node_id, node::LentWorker worker) {
  const std::int64_t id = worker.worker_id;
  place(id, node_id);
  const Result<void> lent = nodes_.at(node_id).agent->lend(std::move(worker));
  if (!lent) forget(id);
  return lent;
}

node::NodeAgent* Nodes::agent_of(std::int64_t worker_id) const {
  const auto place = places_.find(worker_id);
  return place == places_.end() ? nullptr : nodes_.at(place->second).agent.get();
}

void Nodes::send(std::int64_t worker_id, wire::Frame frame) {
  if (node::NodeAgent* agent = agent_of(worker_id)) agent->send(worker_id, std::move(frame));
}

void Nodes::signal_worker(std::int64_t worker_id, int signal) {
  if (node::NodeAgent* agent = agent_of(worker_id)) agent->signal_worker(worker_id, signal);
}

void Nodes::resume_output() {
  for (const auto& [node_id, node] : nodes_) node.agent->resume_output();
}

void Nodes::dismiss(const std::string& node_id) {
  if (const auto node = nodes_.find(node_id); node != nodes_.end()) node->second.agent->dismiss();
}

void Nodes::examine(std::int64_t worker_id, node::NodeAgent::Examined done) {
  if (node::NodeAgent* agent = agent_of(worker_id)) {
    agent->examine(worker_id, std::move(done));
  } else {
    boost::asio::post(loop_, [done = std::move(done)] { done({"its process has ended\n"}); });
  }
}

const node::Use* Nodes::use(const std::string& node_id, bool with_gpus) const {
  const auto node = nodes_.find(node_id);
  return node == nodes_.end() ? nullptr : node->second.agent->use(with_gpus);
}

std::vector<pid_t> Nodes::guards() const {
  std::vector<pid_t> all;
  for (const auto& [node_id, node] : nodes_) {
    for (const pid_t guard : node.agent->guards()) all.push_back(guard);
  }
  return all;
}

}  // namespace headway::driver
