#include "node/attached_agent.hpp"

#include "wire/session_messages.hpp"

namespace headway::node {

AttachedAgent::~AttachedAgent() {
  // Their coroutines may live on for a moment; none of them may call the sink any more.
  for (auto& [id, session] : sessions_) session->close();
}

Result<void> AttachedAgent::start_worker(const WorkerLaunch&, wire::Frame) {
  return Error{ErrorKind::unavailable, "workers of local mode are there already"};
}

Result<void> AttachedAgent::adopt(std::int64_t id, wire::Fd own, wire::Frame first) {
  auto session = std::make_shared<wire::Channel>(loop_, std::move(own), wire::messages_of<wire::FromWorker>);
  session->start([this, id](wire::Frame frame) { return sink_.worker_message(id, std::move(frame)); },
                 [this, id](const std::optional<Error>& error) { on_closed(id, error); });
  session->send(std::move(first));
  sessions_.emplace(id, std::move(session));
  return {};
}

void AttachedAgent::send(std::int64_t worker_id, wire::Frame frame) {
  const auto session = sessions_.find(worker_id);
  if (session != sessions_.end()) session->second->send(std::move(frame));
}

void AttachedAgent::signal_worker(std::int64_t worker_id, int) {
  const auto session = sessions_.find(worker_id);
  if (session == sessions_.end()) return;
  session->second->close();
  // Not at once: whoever orders the end does not expect it to have come before the order is
  // through.
  boost::asio::post(loop_, [this, worker_id, here = std::weak_ptr(alive_)] {
    if (!here.expired()) on_closed(worker_id, std::nullopt);
  });
}

void AttachedAgent::examine(std::int64_t worker_id, Examined done) {
  const bool there = sessions_.contains(worker_id);
  boost::asio::post(loop_, [there, done = std::move(done)] {
    done({there ? "in a process that Headway has not started: a debugger or py-spy shows its stack\n"
                : "its session has ended\n"});
  });
}

void AttachedAgent::on_closed(std::int64_t worker_id, const std::optional<Error>& error) {
  const std::string why = error ? ": " + error->message : "";
  if (sessions_.erase(worker_id) > 0) sink_.worker_exited(worker_id, {false, 0, "its session has ended" + why}, "");
}

}  // namespace headway::node
