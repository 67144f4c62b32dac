#include "driver/runtime.hpp"

#include "core/environment.hpp"
#include "core/fault_point.hpp"
#include "core/may_block.hpp"
#include "driver/run.hpp"
#include "driver/tune/experiment.hpp"
#include "node/attached_agent.hpp"
#include "storage/remote/retry.hpp"
#include "wire/spawn.hpp"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <future>
#include <pthread.h>

namespace headway::driver {

namespace asio = boost::asio;

Result<void> validate(const RuntimeConfig& config) {
  constexpr double gpus_max = 1024;
  const auto refused = [](const std::string& argument, double given, const char* allowed) {
    return Error{ErrorKind::invalid_argument, argument + " is " + number_text(given) + "; allowed: " + allowed};
  };
  const auto bad = [](double amount) { return !std::isfinite(amount) || amount < 0; };
  if (config.num_cpus && bad(*config.num_cpus)) {
    return refused("num_cpus", *config.num_cpus, "None (what the machine has) or a number that is not negative");
  }
  if (config.num_gpus &&
      (bad(*config.num_gpus) || *config.num_gpus > gpus_max || *config.num_gpus != std::floor(*config.num_gpus))) {
    return refused("num_gpus", *config.num_gpus, "None (what the machine has) or a whole number from 0 to 1024");
  }
  for (const auto& [name, amount] : config.resources) {
    if (name.empty()) {
      return Error{ErrorKind::invalid_argument, "resources is given an empty name; allowed: any other name"};
    }
    if (name == "CPU" || name == "GPU") {
      return Error{ErrorKind::invalid_argument,
                   "resources names \"" + name + "\"; allowed: any other name (use num_cpus, num_gpus)"};
    }
    if (bad(amount)) return refused("resources[\"" + name + "\"]", amount, "a finite number that is not negative");
  }
  constexpr double lease_min_s = 1;
  constexpr double lease_max_s = 3600;
  const auto is_lease = [](double seconds) { return seconds >= lease_min_s && seconds <= lease_max_s; };
  if (config.join && !is_lease(config.join->lease_s)) {
    return refused("node_lease_s", config.join->lease_s, "seconds from 1 to 3600");
  }
  if (config.bridge && !config.join) {
    return Error{ErrorKind::invalid_argument,
                 "listen is not given, and nodes of " + config.bridge->engine + " join there; allowed: \"host:port\""};
  }
  return {};
}

std::string reachable_ip(const std::string& host) {
  return host == "0.0.0.0" || host == "::" ? cluster::own_ip() : host;
}

namespace {

/// How long the farewell may take to remote nodes. Those that it does not reach see the connection
/// end.
constexpr auto farewell_limit = std::chrono::milliseconds(200);
/// Signals so close to each other are one: some senders signal a process, and then its group.
constexpr auto one_signal = std::chrono::milliseconds(500);

Error shut_down() { return {ErrorKind::aborted, "Headway was shut down"}; }

}  // namespace

Runtime::Runtime(RuntimeConfig config) : Runtime(config, default_engine(config)) {}

Runtime::Runtime(RuntimeConfig config, const EngineFactory& engine)
    : config_(std::move(config)), work_(asio::make_work_guard(loop_)), publisher_(loop_, [this](Snapshot& snapshot) {
        for (const auto& [id, run] : runs_) snapshot.runs.push_back(run->status());
        snapshot.engine = view_of(*engine_, nodes_, true);
      }) {
  EngineParts parts = engine(loop_, config_, *this);
  engine_ = std::move(parts.engine);
  node_id_ = parts.node_id;
  nodes_.add(node_id_, std::move(parts.agent));
  engine_->on_change([this] { capacity_changed(); });
  engine_->on_spare_change([this] { spare_changed(); });
  spare_places_.on_give_back([this] { spare_changed(); });
  engine_->on_give_back([this](const std::string& node_id) { nodes_.dismiss(node_id); });
  nodes_.add(attached_node, std::make_unique<node::AttachedAgent>(loop_, *this));
  thread_ = wire::start_thread([this] { run_loop(); }).value();
}

/// Its thread takes no signals: Ctrl-C must interrupt the thread that waits in fit().
void Runtime::run_loop() {
  pthread_setname_np(pthread_self(), "headway-io");
  const EventLoopThread here;
  while (true) {
    try {
      loop_.run();
      return;
    } catch (...) {
      // Nobody knows whose handler it left: each run may have missed something.
      fail_runs(wire::error_of(std::current_exception()));
    }
  }
}

void Runtime::fail_runs(const Error& error) {
  for (const auto& [id, run] : std::map(runs_)) run->fail(error);
}

Runtime::~Runtime() { shutdown(); }

void Runtime::shutdown() {
  {
    std::unique_lock lock(stage_mutex_);
    if (stage_ != Stage::open) {
      stage_changed_.wait(lock, [this] { return stage_ == Stage::closed; });
      return;
    }
    stage_ = Stage::closing;
  }
  // Outlived: the loop is this object's, and stops before this object goes.
  asio::post(loop_, [this] { close(); });
  // Storage that can't be reached must not keep this waiting.
  storage::lose_patience();
  thread_.join();
  for (const std::string& text : last_words_) std::fprintf(stderr, "headway: %s\n", text.c_str());
  storage_threads_->join();
  if (artifact_threads_) artifact_threads_->join();
  engine_->wait_for_end();
  storage::regain_patience();
  const std::lock_guard lock(stage_mutex_);
  stage_ = Stage::closed;
  stage_changed_.notify_all();
}

/// The end, on the loop.
void Runtime::close() {
  closing_ = true;
  termination_.leave();
  for (auto& [id, experiment] : std::exchange(experiments_, {})) experiment->close();
  for (auto& [id, run] : std::exchange(runs_, {})) run->detach();
  for (auto& [id, guest] : std::exchange(guests_, {})) guest->close();
  const bool farewells = desk_ != nullptr;
  desk_.reset();
  publisher_.close();
  nodes_.close([this, farewells] {
    engine_->close();
    work_.reset();
    auto farewell = std::make_shared<asio::steady_timer>(loop_, farewells ? farewell_limit : farewell_limit.zero());
    // Outlived: see shutdown().
    farewell->async_wait([this, farewell](const boost::system::error_code&) { loop_.stop(); });
  });
}

bool Runtime::is_open() {
  const std::lock_guard lock(stage_mutex_);
  return stage_ == Stage::open;
}

template <class F>
void Runtime::later(F work) {
  // Outlived: see shutdown().
  asio::post(loop_, [this, work = std::move(work)]() mutable {
    if (!closing_) work();
  });
}

template <class F>
auto Runtime::ask_loop(F question) {
  std::promise<decltype(question())> answer;
  {
    std::unique_lock lock(stage_mutex_);
    if (stage_ != Stage::open) {
      stage_changed_.wait(lock, [this] { return stage_ == Stage::closed; });
      return question();
    }
    // Posted before the end is, so it is answered.
    asio::post(loop_, [&] { answer.set_value(question()); });
  }
  return answer.get_future().get();
}

asio::thread_pool& Runtime::artifact_threads() {
  if (!artifact_threads_) {
    Result<std::unique_ptr<wire::ThreadPool>> started = wire::ThreadPool::start(2);
    if (!started) return *storage_threads_;
    artifact_threads_ = std::move(*started);
  }
  return *artifact_threads_;
}

void Runtime::warm(std::vector<std::string> preload) {
  later([this, preload = std::move(preload)] {
    preloads_.insert(preload);
    nodes_.warm(preload);
  });
}

void Runtime::offer(std::shared_ptr<node::ForkedFactory> forked) {
  later([this, forked = std::move(forked)] { nodes_.offer(forked); });
}

Result<std::string> Runtime::listen() {
  return ask_loop([this]() -> Result<std::string> {
    if (closing_) return shut_down();
    const auto joined = [this](node::NodeResources node, std::shared_ptr<cluster::SecureChannel> channel) {
      node_joined(std::move(node), std::move(channel));
    };
    auto desk = cluster::JoinDesk::open(loop_, *config_.join, joined, [this](const std::string& why) { notice(why); });
    if (!desk) return desk.error();
    desk_ = std::move(*desk);
    const std::string address = reachable_ip(config_.join->listen.host) + ":" + std::to_string(desk_->port());
    engine_->open({address, config_.join->token});
    return address;
  });
}

void Runtime::node_joined(node::NodeResources node, std::shared_ptr<cluster::SecureChannel> channel) {
  if (closing_) return channel->close();
  if (!log_threads_) log_threads_ = std::make_shared<node::LogThreads>(loop_);
  cluster::RemoteAgent::Handlers handlers;
  handlers.lost = [this, id = node.node_id](const std::string& reason, auto fenced_until) {
    // Not at once: this is called from inside the agent that goes.
    later([this, id, reason, fenced_until] { node_lost(id, reason, fenced_until); });
  };
  handlers.preempting = [this, id = node.node_id](double grace_s) { node_preempted(id, grace_s); };
  auto agent = std::make_unique<cluster::RemoteAgent>(loop_, std::move(channel),
                                                      std::chrono::duration<double>(config_.join->lease_s), *this,
                                                      std::move(handlers), log_threads_);
  for (const std::vector<std::string>& preload : preloads_) (void)agent->warm(preload);
  nodes_.add(node.node_id, std::move(agent));
  for (const auto& [id, run] : runs_) {
    run->notify(node.node_id + " (" + node.hostname + ") has joined with " + resources_text(node.total));
  }
  engine_->add(std::move(node));
  publisher_.changed();
}

/// Runs hear of it at once. Its workers are out of reach but may live until the agent's lease has
/// run out: only then are they gone.
void Runtime::node_lost(const std::string& node_id, const std::string& reason,
                        std::chrono::steady_clock::time_point fenced_until) {
  engine_->remove(node_id);
  publisher_.changed();
  const std::vector<std::int64_t> workers = nodes_.remove(node_id);
  // A copy: a run that hears of it may end.
  for (const auto& [id, run] : std::map(runs_)) run->node_lost(node_id, reason);
  auto fence = std::make_shared<asio::steady_timer>(loop_, fenced_until);
  // Outlived: see shutdown().
  fence->async_wait(
      [this, fence, workers, words = "its node " + node_id + " is lost: " + reason](const boost::system::error_code&) {
        if (closing_) return;
        for (std::int64_t worker_id : workers) worker_exited(worker_id, {true, SIGKILL, words}, "");
      });
}

/// What runs there goes on; where to, and when, each run's controller decides.
void Runtime::node_preempted(const std::string& node_id, double grace_s) {
  engine_->drain(node_id);
  publisher_.changed();
  for (const auto& [id, run] : std::map(runs_)) run->node_preempted(node_id, grace_s);
}

/// A second signal ends the runs at once, and a third one this process.
void Runtime::terminated() {
  const auto now = std::chrono::steady_clock::now();
  if (terminated_at_ && now - *terminated_at_ < one_signal) return;
  if (terminated_at_) {
    termination_.end_at_next();
  } else {
    terminated_at_ = now;
  }
  for (const auto& [id, run] : std::map(runs_)) run->driver_preempted(notice_period_s_);
}

/// Not at once: the engine is in the middle of it.
void Runtime::capacity_changed() {
  if (!std::exchange(capacity_told_, false)) return;
  later([this] {
    capacity_told_ = true;
    for (const auto& [id, run] : std::map(runs_)) run->capacity_changed();
  });
}

/// The same.
void Runtime::spare_changed() {
  if (runs_.empty() || !std::exchange(spare_told_, false)) return;
  later([this] {
    spare_told_ = true;
    for (const auto& [id, run] : std::map(runs_)) run->spare_changed();
  });
}

Result<std::shared_ptr<Run>> Runtime::start_run(RunStart start) {
  if (auto ok = headway::validate(start.spec); !ok) return ok.error();
  if (!is_open()) return shut_down();
  const Result<double> notice_s = notice_period_s();
  if (!notice_s) return notice_s.error();
  auto run = std::make_shared<Run>(*this, std::move(start));
  const std::lock_guard lock(stage_mutex_);
  if (stage_ != Stage::open) return shut_down();
  later([this, run, notice = *notice_s] {
    const std::int64_t id = next_run_id_++;
    runs_[id] = run;
    notice_period_s_ = notice;
    // A guest ends with its host's worker.
    if (config_.host_fd < 0 && run->hears_termination()) termination_.watch();
    throw_point("loop.handler");
    run->start(id);
    for (const std::string& text : std::exchange(unheard_, {})) run->warn(text);
    if (terminated_at_) run->driver_preempted(notice_period_s_);
  });
  return run;
}

Result<std::shared_ptr<Experiment>> Runtime::start_experiment(control::tune::ExperimentSpec spec) {
  if (!is_open()) return shut_down();
  const std::vector<pid_t> guards = ask_loop([this] { return nodes_.guards(); });
  auto experiment = Experiment::open(*this, std::move(spec), this_owner(guards));
  if (!experiment) return experiment.error();
  const std::lock_guard lock(stage_mutex_);
  if (stage_ != Stage::open) return shut_down();
  later([this, begun = *experiment] {
    const std::int64_t id = next_experiment_id_++;
    experiments_[id] = begun;
    begun->begin(id);
  });
  return experiment;
}

Result<std::shared_ptr<Watch>> Runtime::watch() {
  const std::lock_guard lock(stage_mutex_);
  if (stage_ != Stage::open) return shut_down();
  return publisher_.watch();
}

Resources Runtime::total_resources() {
  return ask_loop([this] { return engine().total(); });
}

Resources Runtime::available_resources() {
  return ask_loop([this] { return engine().available(); });
}

std::vector<node::NodeResources> Runtime::node_resources() {
  return ask_loop([this] { return engine_->nodes(); });
}

HelperServices Runtime::helper_services() {
  return {&routes_, &nodes_, &engine(), peer_token_,
          [this](wire::Fd fd, node::FactoryChoice factory) { take_guest(std::move(fd), std::move(factory)); }};
}

void Runtime::take_guest(wire::Fd fd, node::FactoryChoice factory) {
  if (closing_) return;
  const std::int64_t id = next_guest_id_++;
  const auto guest = std::make_shared<Guest>(*this, std::move(fd), std::move(factory),
                                             [this, id] { later([this, id] { guests_.erase(id); }); });
  guests_[id] = guest;
  guest->start();
}

void Runtime::forget_run(std::int64_t run_id) {
  runs_.erase(run_id);
  if (runs_.empty()) termination_.leave();
}

Result<void> Runtime::worker_message(std::int64_t worker_id, wire::Frame frame) {
  const auto listener = routes_.find(worker_id);
  return listener ? listener->worker_message(worker_id, std::move(frame)) : Result<void>();
}

void Runtime::worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  const auto listener = routes_.remove(worker_id);
  nodes_.forget(worker_id);
  if (listener) listener->worker_exited(worker_id, status, log_tail);
}

bool Runtime::worker_line(std::int64_t worker_id, std::string_view line) {
  const auto listener = routes_.find(worker_id);
  return !listener || listener->worker_line(worker_id, line);
}

void Runtime::use_seen() { publisher_.changed(); }

void Runtime::notice(const std::string& text) {
  for (auto& [id, run] : runs_) run->warn(text);
  if (closing_) last_words_.push_back(text);
  constexpr std::size_t unheard_max = 16;
  if (runs_.empty() && unheard_.size() < unheard_max) unheard_.push_back(text);
}

}  // namespace headway::driver
