#include "driver/runtime.hpp"

#include "driver/run.hpp"
#include "storage/retry.hpp"

#include <cmath>
#include <csignal>
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
      return Error{ErrorKind::invalid_argument, "resources is given an empty name; allowed: names of your own"};
    }
    if (name == "CPU" || name == "GPU") {
      return Error{ErrorKind::invalid_argument,
                   "resources names \"" + name + "\"; allowed: names of your own (use num_cpus, num_gpus)"};
    }
    if (bad(amount)) return refused("resources[\"" + name + "\"]", amount, "a finite number that is not negative");
  }
  return {};
}

Runtime::Runtime(RuntimeConfig config) : config_(std::move(config)), work_(asio::make_work_guard(loop_)) {
  node::NodeResources here = node::detect_resources(config_.num_cpus, config_.num_gpus, config_.resources);
  nodes_.add(here.node_id, std::make_unique<node::Agent>(loop_, config_.factory, *this));
  engine_.add(std::move(here));
  thread_ = std::thread([this] { run_loop(); });
}

/// Signals are for the program's own threads: Ctrl-C must interrupt the thread that waits in fit().
void Runtime::run_loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "headway-io");
  loop_.run();
}

Runtime::~Runtime() { shutdown(); }

void Runtime::shutdown() {
  const std::lock_guard lock(shutdown_mutex_);
  if (std::exchange(stopped_, true)) return;
  asio::post(loop_, [this] {
    for (auto& [id, run] : std::exchange(runs_, {})) run->detach();
    nodes_.clear();
    work_.reset();
    loop_.stop();
  });
  // Storage that can't be reached must not keep this waiting.
  storage::lose_patience();
  thread_.join();
  storage_threads_.join();
  if (artifact_threads_) artifact_threads_->join();
  storage::regain_patience();
}

asio::thread_pool& Runtime::artifact_threads() {
  if (!artifact_threads_) artifact_threads_ = std::make_unique<asio::thread_pool>(2);
  return *artifact_threads_;
}

void Runtime::warm(std::vector<std::string> preload) {
  asio::post(loop_, [this, preload = std::move(preload)] { nodes_.warm(preload); });
}

Result<std::shared_ptr<Run>> Runtime::start_run(RunSpec spec, JsonObject setup, wire::Blob task, wire::Blob trainer) {
  if (auto ok = headway::validate(spec); !ok) return ok.error();
  const std::lock_guard lock(shutdown_mutex_);
  if (stopped_) return Error{ErrorKind::aborted, "headway.shutdown() was called"};
  auto run = std::make_shared<Run>(*this, std::move(spec), std::move(setup), std::move(task), std::move(trainer));
  asio::post(loop_, [this, run] {
    run->start(next_run_id_);
    runs_[next_run_id_++] = run;
  });
  return run;
}

Resources Runtime::total_resources() { return engine_.total(); }

Resources Runtime::available_resources() {
  const std::lock_guard lock(shutdown_mutex_);
  if (stopped_) return engine_.available();
  std::promise<Resources> answer;
  asio::post(loop_, [&] { answer.set_value(engine_.available()); });
  return answer.get_future().get();
}

std::int64_t Runtime::add_worker(std::weak_ptr<Run> run) {
  worker_runs_[next_worker_id_] = std::move(run);
  return next_worker_id_++;
}

void Runtime::forget_run(std::int64_t run_id) { runs_.erase(run_id); }

void Runtime::worker_message(std::int64_t worker_id, wire::Frame frame) {
  if (auto run = worker_runs_[worker_id].lock()) run->worker_message(worker_id, std::move(frame));
}

void Runtime::worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  const auto run = worker_runs_[worker_id].lock();
  worker_runs_.erase(worker_id);
  nodes_.forget(worker_id);
  if (run) run->worker_exited(worker_id, status, log_tail);
}

bool Runtime::worker_line(std::int64_t worker_id, std::string_view line) {
  const auto run = worker_runs_[worker_id].lock();
  return !run || run->worker_line(worker_id, line);
}

void Runtime::notice(const std::string& text) {
  for (auto& [id, run] : runs_) run->warn(text);
}

}  // namespace headway::driver
