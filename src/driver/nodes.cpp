#include "driver/nodes.hpp"

namespace headway::driver {

void Nodes::add(const std::string& node_id, std::unique_ptr<node::NodeAgent> agent) {
  agents_[node_id] = std::move(agent);
}

std::vector<std::int64_t> Nodes::remove(const std::string& node_id) {
  std::vector<std::int64_t> workers;
  for (const auto& [worker_id, place] : places_) {
    if (place == node_id) workers.push_back(worker_id);
  }
  for (std::int64_t worker_id : workers) places_.erase(worker_id);
  agents_.erase(node_id);
  return workers;
}

void Nodes::close(std::function<void()> closed) {
  places_.clear();
  // Whoever goes last lets this go on. An agent must outlive its own end, so it is let go by the
  // loop.
  const std::shared_ptr<void> all_closed(
      nullptr, [this, closed = std::move(closed)](void*) { boost::asio::post(loop_, closed); });
  std::vector<std::string> ids;
  for (const auto& [node_id, agent] : agents_) ids.push_back(node_id);
  for (const std::string& node_id : ids) {
    agents_.at(node_id)->close([this, node_id, all_closed] {
      // Outlived: this lives until `closed` is called.
      boost::asio::post(loop_, [this, node_id, all_closed] { agents_.erase(node_id); });
    });
  }
}

void Nodes::warm(const std::vector<std::string>& preload) {
  for (auto& [node_id, agent] : agents_) (void)agent->warm(preload);
}

void Nodes::offer(const std::shared_ptr<node::ForkedFactory>& forked) {
  for (auto& [node_id, agent] : agents_) agent->offer(forked);
}

Result<void> Nodes::start_worker(const std::string& node_id, const node::WorkerLaunch& launch, wire::Frame first) {
  const auto agent = agents_.find(node_id);
  if (agent == agents_.end()) return Error{ErrorKind::unavailable, "node " + node_id + " is gone"};
  auto started = agent->second->start_worker(launch, std::move(first));
  if (started) places_[launch.worker_id] = node_id;
  return started;
}

Result<void> Nodes::adopt(const std::string& node_id, std::int64_t worker_id, wire::Fd session, wire::Frame first) {
  auto adopted = agents_.at(node_id)->adopt(worker_id, std::move(session), std::move(first));
  if (adopted) places_[worker_id] = node_id;
  return adopted;
}

Result<void> Nodes::lend(const std::string& node_id, node::LentWorker worker) {
  const std::int64_t id = worker.worker_id;
  places_[id] = node_id;
  const Result<void> lent = agents_.at(node_id)->lend(std::move(worker));
  if (!lent) places_.erase(id);
  return lent;
}

node::NodeAgent* Nodes::agent_of(std::int64_t worker_id) const {
  const auto place = places_.find(worker_id);
  return place == places_.end() ? nullptr : agents_.at(place->second).get();
}

void Nodes::send(std::int64_t worker_id, wire::Frame frame) {
  if (node::NodeAgent* agent = agent_of(worker_id)) agent->send(worker_id, std::move(frame));
}

void Nodes::signal_worker(std::int64_t worker_id, int signal) {
  if (node::NodeAgent* agent = agent_of(worker_id)) agent->signal_worker(worker_id, signal);
}

void Nodes::resume_output() {
  for (auto& [node_id, agent] : agents_) agent->resume_output();
}

void Nodes::examine(std::int64_t worker_id, node::NodeAgent::Examined done) {
  if (node::NodeAgent* agent = agent_of(worker_id)) {
    agent->examine(worker_id, std::move(done));
  } else {
    boost::asio::post(loop_, [done = std::move(done)] { done({"its process has ended\n"}); });
  }
}

std::vector<pid_t> Nodes::guards() const {
  std::vector<pid_t> all;
  for (const auto& [node_id, agent] : agents_) {
    for (const pid_t guard : agent->guards()) all.push_back(guard);
  }
  return all;
}

}  // namespace headway::driver
