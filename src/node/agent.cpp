#include "node/agent.hpp"

#include "wire/session_messages.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headway::node {

namespace asio = boost::asio;

namespace {

/// This process's ends, and the worker's.
struct WorkerPipes {
  wire::Fd session;
  wire::Fd output;
  wire::Fd errors;
  WorkerEnds workers;
};

Result<WorkerPipes> make_pipes(bool with_errors) {
  WorkerPipes pipes;
  std::array<int, 2> ends{};
  const auto keep = [&ends](wire::Fd& ours, wire::Fd& workers) {
    ours = wire::Fd(ends[0]);
    workers = wire::Fd(ends[1]);
  };
  const auto failed = [] {
    return Error{ErrorKind::unavailable, "cannot make a socket and pipes for a worker: " + wire::reason_of(errno)};
  };
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed();
  keep(pipes.session, pipes.workers.session);
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed();
  keep(pipes.output, pipes.workers.output);
  if (!with_errors) return pipes;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed();
  keep(pipes.errors, pipes.workers.errors);
  return pipes;
}

/// Launches of one key come from one factory. A null character parts what may hold any other.
std::string key_of(const WorkerLaunch& launch) {
  std::string key;
  for (const std::string& module : launch.preload) key += module + ",";
  for (const std::string& word : launch.factory.command) key += '\0' + word;
  for (const auto& [name, value] : launch.factory.env) key += '\0' + name + '=' + value;
  return key;
}

}  // namespace

Result<void> NodeAgent::lend(LentWorker) { return Error{ErrorKind::unavailable, "it is on another machine"}; }

Agent::Agent(asio::io_context& loop, FactoryConfig config, AgentSink& sink, HostLink* host)
    : loop_(loop),
      config_(std::move(config)),
      sink_(sink),
      examiner_(loop, {config_.guard_path, config_.py_spy, config_.own_stacks}),
      host_(host) {}

Agent::~Agent() {
  // Their coroutines may live on for a moment; none of them may call the sink any more.
  for (auto& [id, worker] : workers_) {
    worker.session->close();
    for (const auto& output : worker.output) output->abandon();
  }
}

Result<void> Agent::warm(const std::vector<std::string>& preload) {
  WorkerLaunch launch;
  launch.preload = preload;
  Result<WorkerSource*> factory = factory_for(launch);
  if (!factory) return factory.error();
  return {};
}

Result<WorkerSource*> Agent::factory_for(const WorkerLaunch& launch) {
  const std::string key = key_of(launch);
  if (const auto found = factories_.find(key); found != factories_.end()) return found->second.get();
  FactoryConfig config = config_;
  const bool own_environment = !launch.factory.is_nodes_own();
  if (own_environment && host_ != nullptr) {
    return Error{
        ErrorKind::invalid_argument,
        "a factory of its own was asked for in a validation function, whose workers come from the factory of its run"};
  }
  if (own_environment) {
    drop_idle_environments();
    own_environments_.insert(key);
    if (!launch.factory.command.empty()) config.command = launch.factory.command;
    for (const auto& [name, value] : launch.factory.env) config.env[name] = value;
  }
  WorkerSource::Handlers handlers;
  handlers.ready = [this](const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) sink_.notice("the worker factory could not import " + problem);
  };
  handlers.spawned = [this](std::int64_t worker_id, std::int64_t pid, const std::string& exec_reason) {
    if (const auto worker = workers_.find(worker_id); worker != workers_.end())
      worker->second.pid = static_cast<pid_t>(pid);
    if (const auto lent = lent_.find(worker_id); lent != lent_.end()) lent->second.spawned(pid);
    if (exec_reason.empty() || std::exchange(told_exec_reason_, true)) return;
    sink_.notice("workers are started as new processes, which takes seconds instead of milliseconds: " + exec_reason);
  };
  handlers.ended = [this](std::int64_t worker_id, const ExitStatus& status) { on_ended(worker_id, status); };
  handlers.lost = [this, key] { drop_factory(key); };
  if (host_ != nullptr) {
    auto hosted = std::make_unique<HostedFactory>(*host_, launch.preload, std::move(handlers));
    return factories_.emplace(key, std::move(hosted)).first->second.get();
  }
  auto factory = std::make_unique<Factory>(loop_, std::move(handlers));
  if (auto ok = factory->start(config, launch.preload); !ok) return ok.error();
  if (lease_end_) factory->hold_until(*lease_end_);
  return factories_.emplace(key, std::move(factory)).first->second.get();
}

/// Each holds its own copy of what it has imported: one that nobody uses now makes place for the next.
void Agent::drop_idle_environments() {
  std::erase_if(own_environments_, [this](const std::string& key) {
    const auto found = factories_.find(key);
    if (found == factories_.end()) return true;
    if (!found->second->idle()) return false;
    factories_.erase(found);
    return true;
  });
}

/// Not at once: this is called from inside the factory that goes.
void Agent::drop_factory(const std::string& key) {
  auto node = factories_.extract(key);
  if (!node.empty()) asio::post(loop_, [factory = std::shared_ptr<WorkerSource>(std::move(node.mapped()))] {});
}

Result<void> Agent::lend(LentWorker worker) {
  WorkerLaunch launch;
  launch.preload = worker.preload;
  launch.factory = std::move(worker.factory);
  Result<WorkerSource*> factory = factory_for(launch);
  if (!factory) return factory.error();
  lent_[worker.worker_id] = {key_of(launch), std::move(worker.spawned)};
  (*factory)->spawn(worker.worker_id, worker.env, std::move(worker.ends));
  return {};
}

Result<void> Agent::start_worker(const WorkerLaunch& launch, wire::Frame first) {
  Result<WorkerSource*> factory = factory_for(launch);
  if (!factory) return factory.error();
  const bool has_errors = !launch.error_log_path.empty() && host_ == nullptr;
  Result<WorkerPipes> made = make_pipes(has_errors);
  if (!made) return made.error();
  WorkerPipes& pipes = *made;
  const std::int64_t id = launch.worker_id;
  const auto capture = [this, id](int fd, const std::string& path) {
    auto made = std::make_shared<LogCapture>(loop_, fd, path,
                                             [this, id](std::string_view line) { return sink_.worker_line(id, line); });
    made->start();
    return made;
  };
  Worker worker;
  worker.factory_key = key_of(launch);
  worker.session =
      std::make_shared<wire::Channel>(loop_, std::move(pipes.session), wire::messages_of<wire::FromWorker>);
  const auto on_frame = [this, id](wire::Frame frame) {
    if (const auto from = workers_.find(id); from != workers_.end()) from->second.heard += 1;
    return sink_.worker_message(id, std::move(frame));
  };
  worker.session->start(on_frame, [this, id](const std::optional<Error>& error) { on_session_closed(id, error); });
  worker.output.push_back(capture(pipes.output.release(), launch.log_path));
  if (has_errors) worker.output.push_back(capture(pipes.errors.release(), launch.error_log_path));
  worker.session->send(std::move(first));
  workers_.emplace(id, std::move(worker));
  (*factory)->spawn(id, launch.env, std::move(pipes.workers));
  return {};
}

void Agent::send(std::int64_t worker_id, wire::Frame frame) {
  const auto worker = workers_.find(worker_id);
  if (worker != workers_.end()) worker->second.session->send(std::move(frame));
}

void Agent::signal_worker(std::int64_t worker_id, int signal) {
  const auto worker = workers_.find(worker_id);
  const auto lent = lent_.find(worker_id);
  if (lent == lent_.end() && (worker == workers_.end() || worker->second.exit)) return;
  const auto factory = factories_.find(lent != lent_.end() ? lent->second.factory_key : worker->second.factory_key);
  if (factory != factories_.end()) factory->second->signal(worker_id, signal);
  const bool ordered = worker != workers_.end() && worker->second.pid == 0 && worker->second.heard == 0;
  if (signal == SIGKILL && ordered) withdraw(worker_id);
}

/// A worker that its factory has not started yet is not waited for: the import that the factory is in may never end. The factory
/// has its signal right behind the order. Should it start the worker yet, that one finds its session closed, and does nothing.
void Agent::withdraw(std::int64_t worker_id) {
  asio::post(loop_, [this, worker_id, here = std::weak_ptr(alive_)] {
    if (here.expired()) return;
    const auto worker = workers_.find(worker_id);
    if (worker == workers_.end() || worker->second.exit) return;
    worker->second.exit = ExitStatus{true, SIGKILL, "it had not been started yet"};
    finish_worker(worker_id);
  });
}

void Agent::resume_output() {
  for (auto& [id, worker] : workers_) {
    for (const auto& output : worker.output) output->resume();
  }
}

void Agent::hold_until(LeaseTime end) {
  lease_end_ = end;
  for (const auto& [key, factory] : factories_) factory->hold_until(end);
}

void Agent::examine(std::int64_t worker_id, Examined done) {
  const auto worker = workers_.find(worker_id);
  const auto factory = worker == workers_.end() ? factories_.end() : factories_.find(worker->second.factory_key);
  const pid_t pid = worker == workers_.end() ? 0 : worker->second.pid;
  const pid_t parent = factory == factories_.end() ? 0 : factory->second->process();
  if (pid != 0) {
    examiner_.examine(pid, std::move(done));
  } else if (parent != 0) {
    const std::string who = "it is not started yet; its worker factory (pid " + std::to_string(parent) + ") is ";
    examiner_.examine(parent, [who, done = std::move(done)](const std::string& text) { done(who + text); });
  } else {
    asio::post(loop_, [done = std::move(done)] { done("its process has ended\n"); });
  }
}

std::vector<pid_t> Agent::guards() const {
  std::vector<pid_t> guards;
  for (const auto& [key, factory] : factories_) {
    if (factory->guard_pid() != 0) guards.push_back(factory->guard_pid());  // A host's are its own.
  }
  return guards;
}

void Agent::on_ended(std::int64_t worker_id, const ExitStatus& status) {
  if (lent_.erase(worker_id) > 0) sink_.worker_exited(worker_id, status, "");
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end()) return;
  worker->second.exit = status;
  if (worker->second.session_closed) {
    finish_worker(worker_id);
    return;
  }
  await_last_words(worker_id);
}

/// Of a worker that has ended: they are still in its socket. Should a child of it hold the socket open, they are taken and that is all.
void Agent::await_last_words(std::int64_t worker_id) {
  constexpr auto silence_max = std::chrono::milliseconds(200);
  Worker& worker = workers_.at(worker_id);
  worker.last_words = std::make_shared<asio::steady_timer>(loop_, silence_max);
  worker.last_words->async_wait([this, worker_id, heard = worker.heard](const boost::system::error_code& failure) {
    if (failure) return;  // The agent may be gone.
    const auto ended = workers_.find(worker_id);
    if (ended == workers_.end()) return;
    // On a machine with much to do reading them may take longer than that.
    if (ended->second.heard != heard) return await_last_words(worker_id);
    finish_worker(worker_id);
  });
}

void Agent::on_session_closed(std::int64_t worker_id, const std::optional<Error>& error) {
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end()) return;
  worker->second.session_closed = true;
  // A process that is killed may leave a part of a message.
  const bool broken = error && error->kind != ErrorKind::unknown_outcome;
  if (broken) worker->second.session_error = error->message;
  if (worker->second.exit) {
    finish_worker(worker_id);
    return;
  }
  // A process that ends closes its session a moment before. One that lives on without is deaf, and of no more use.
  constexpr auto exit_max = std::chrono::seconds(5);
  worker->second.last_words = std::make_shared<asio::steady_timer>(loop_, broken ? exit_max.zero() : exit_max);
  worker->second.last_words->async_wait([this, worker_id](const boost::system::error_code& failure) {
    if (!failure) signal_worker(worker_id, SIGKILL);
  });
}

void Agent::finish_worker(std::int64_t worker_id) {
  auto node = workers_.extract(worker_id);
  if (node.empty()) return;
  Worker& worker = node.mapped();
  worker.session->close();
  std::string tail;
  for (const auto& output : worker.output) {
    output->finish();
    tail += output->tail();
    if (!output->trouble().empty()) sink_.notice(output->trouble());
  }
  if (worker.last_words) worker.last_words->cancel();
  if (worker.exit->detail.empty() && !worker.session_error.empty())
    worker.exit->detail = "its session broke: " + worker.session_error;
  sink_.worker_exited(worker_id, *worker.exit, tail);
}

}  // namespace headway::node
