#include "node/agent.hpp"

#include "node/process_state.hpp"
#include "wire/session_messages.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

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

bool is_for(const std::shared_ptr<ForkedFactory>& forked, const std::vector<std::string>& preload) {
  return forked && (!forked->preload || *forked->preload == preload);
}

}  // namespace

Result<void> NodeAgent::lend(LentWorker) { return Error{ErrorKind::unavailable, "it is on another machine"}; }

Result<void> NodeAgent::adopt(std::int64_t, wire::Fd, wire::Frame) {
  return Error{ErrorKind::unavailable, "it starts all of its workers"};
}

void NodeAgent::close(std::function<void()> closed) { closed(); }

Agent::Agent(asio::io_context& loop, FactoryConfig config, AgentSink& sink, HostLink* host)
    : loop_(loop),
      config_(std::move(config)),
      sink_(sink),
      log_threads_(loop),
      examiner_(loop, {config_.guard_path, config_.py_spy, config_.own_stacks}),
      use_due_(loop),
      host_(host) {}

Agent::~Agent() {
  // Their coroutines may live on for a moment; none of them may call the sink any more.
  for (auto& [id, worker] : workers_) {
    worker.session->close();
    for (const auto& output : worker.output) output->abandon([] {});
  }
}

/// What a guest has is its host's to show.
const Use* Agent::use(bool with_gpus) {
  constexpr auto pause = std::chrono::seconds(5);
  looks_at_gpus_ = looks_at_gpus_ || with_gpus;
  if (host_ == nullptr && !closed_ && !std::exchange(use_asked_, true)) {
    use_due_.expires_at(use_ ? use_seen_at_ + pause : std::chrono::steady_clock::now());
    use_due_.async_wait(while_alive([this](const boost::system::error_code& failure) {
      if (!failure) look_at_use();
    }));
  }
  return use_ ? &*use_ : nullptr;
}

/// By a thread: looking for a program may wait for a disk.
void Agent::look_at_use() {
  auto seen = std::make_shared<Use>();
  log_threads_.run([machine = machine_, seen, gpus = looks_at_gpus_] { *seen = machine->look(gpus); },
                   while_alive([this, seen] {
                     use_ = std::move(*seen);
                     use_seen_at_ = std::chrono::steady_clock::now();
                     use_asked_ = false;
                     if (!closed_) sink_.use_seen();
                   }));
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
  if (own_environment || !is_for(config.forked, launch.preload)) config.forked = nullptr;
  if (own_environment && host_ != nullptr) {
    return Error{
        ErrorKind::invalid_argument,
        "a separate factory was asked for in a validation function, whose workers come from the factory of its run"};
  }
  if (own_environment) {
    drop_idle_environments();
    own_environments_.insert(key);
    if (!launch.factory.command.empty()) config.command = launch.factory.command;
    for (const auto& [name, value] : launch.factory.env) config.env[name] = value;
    for (const auto& [name, value] : launch.new_factory_env) config.env[name] = value;
  }
  if (host_ != nullptr) {
    auto hosted = std::make_unique<HostedFactory>(*host_, launch.preload, handlers_for(key));
    return factories_.emplace(key, std::move(hosted)).first->second.get();
  }
  auto factory = std::make_unique<Factory>(loop_, handlers_for(key));
  if (auto ok = factory->start(config, launch.preload); !ok) return ok.error();
  if (lease_end_) factory->hold_until(*lease_end_);
  return factories_.emplace(key, std::move(factory)).first->second.get();
}

WorkerSource::Handlers Agent::handlers_for(const std::string& key) {
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
  handlers.notice = while_alive([this](const std::string& text) { sink_.notice(text); });
  return handlers;
}

/// Each holds its own copy of what it has imported: an idle one is stopped before another is
/// started.
void Agent::drop_idle_environments() {
  std::erase_if(own_environments_, [this](const std::string& key) {
    const auto found = factories_.find(key);
    if (found == factories_.end()) return true;
    if (!found->second->idle()) return false;
    end_factory(std::move(found->second));
    factories_.erase(found);
    return true;
  });
}

/// Not at once: this is called from inside the factory that goes.
void Agent::drop_factory(const std::string& key) {
  auto node = factories_.extract(key);
  if (node.empty()) return;
  auto factory = std::make_shared<std::unique_ptr<WorkerSource>>(std::move(node.mapped()));
  asio::post(loop_, while_alive([this, factory] { end_factory(std::move(*factory)); }));
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
    auto made = std::make_shared<LogCapture>(log_threads_, fd, path,
                                             [this, id](std::string_view line) { return sink_.worker_line(id, line); });
    made->start();
    return made;
  };
  Worker worker;
  worker.factory_key = key_of(launch);
  worker.scratch = launch.scratch;
  std::map<std::string, std::string> env = launch.env;
  if (const std::string path = take_scratch(launch.scratch); !path.empty()) env[scratch_variable] = path;
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
  (*factory)->spawn(id, env, std::move(pipes.workers));
  expect_answer(id);
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
  if (signal == SIGKILL && worker != workers_.end()) {
    worker->second.killed = true;
    expect_answer(worker_id);
  }
  const bool ordered = worker != workers_.end() && worker->second.pid == 0 && worker->second.heard == 0;
  if (signal == SIGKILL && ordered) withdraw(worker_id);
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

namespace {

/// Says first whose process was looked at.
NodeAgent::Examined told_as(const std::string& who, NodeAgent::Examined done) {
  return [who, done = std::move(done)](ProcessSeen seen) {
    seen.text = who + seen.text;
    done(seen);
  };
}

}  // namespace

void Agent::examine(std::int64_t worker_id, Examined done) {
  const auto worker = workers_.find(worker_id);
  const auto factory = worker == workers_.end() ? factories_.end() : factories_.find(worker->second.factory_key);
  const pid_t pid = worker == workers_.end() ? 0 : worker->second.pid;
  const pid_t parent = factory == factories_.end() ? 0 : factory->second->process();
  if (pid != 0 && parent != 0 && has_ended(process_state(pid))) {
    const std::string who =
        "its process has ended; its worker factory (pid " + std::to_string(parent) + "), which reports that, is ";
    examiner_.examine(parent, told_as(who, std::move(done)));
  } else if (pid != 0) {
    examiner_.examine(pid, std::move(done));
  } else if (parent != 0) {
    const std::string who = "not started yet; its worker factory (pid " + std::to_string(parent) + ") is ";
    examiner_.examine(parent, told_as(who, std::move(done)));
  } else {
    asio::post(loop_, [done = std::move(done)] { done({"its process has ended\n"}); });
  }
}

std::vector<pid_t> Agent::guards() const {
  std::vector<pid_t> guards;
  for (const auto& [key, factory] : factories_) {
    if (factory->guard_pid() != 0) guards.push_back(factory->guard_pid());  // A host's are its own.
  }
  return guards;
}

}  // namespace headway::node
