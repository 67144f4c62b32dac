#include "cluster/remote_agent.hpp"

namespace headway::cluster {

namespace asio = boost::asio;

RemoteAgent::RemoteAgent(asio::io_context& loop, std::shared_ptr<SecureChannel> channel,
                         std::chrono::duration<double> lease, node::AgentSink& sink, Handlers handlers,
                         std::shared_ptr<node::LogThreads> log_threads)
    : channel_(std::move(channel)),
      lease_(std::chrono::duration_cast<Clock::duration>(lease)),
      sink_(sink),
      handlers_(std::move(handlers)),
      silence_(loop),
      granted_(Clock::now()),
      log_threads_(std::move(log_threads)) {
  // The destructor takes these back.
  channel_->hand_over([this](const wire::Frame& frame) { return on_frame(frame); },
                      [this](const std::optional<Error>& error) {
                        lose(error ? "its connection broke: " + error->message : "its connection ended");
                      });
  wait_for_sign_of_life();
}

RemoteAgent::~RemoteAgent() {
  handlers_ = {};
  silence_.cancel();
  channel_->hand_over(nullptr, nullptr);
  channel_->send(wire::to_frame(Dismiss{}));
  channel_->finish();
  for (auto& [id, worker] : workers_) {
    if (worker.log) close_log(*worker.log, [] {});
  }
}

void RemoteAgent::close(std::function<void()> closed) {
  const std::shared_ptr<void> all_closed(nullptr, [closed = std::move(closed)](void*) { closed(); });
  for (auto& [id, worker] : std::exchange(workers_, {})) {
    if (worker.log) close_log(*worker.log, [all_closed] {});
  }
}

/// One descriptor for each of a large node's workers would be too many for this process.
std::shared_ptr<node::LogFile> RemoteAgent::open_log(std::int64_t worker_id, const std::string& path) {
  if (path.empty()) return nullptr;
  auto log = std::make_shared<node::LogFile>(*log_threads_, path, node::LogFile::Opened::for_each_write);
  log->on_space = [this, here = std::weak_ptr(alive_), worker_id] {
    if (here.expired()) return;
    full_logs_.erase(worker_id);
    pause_or_resume();
  };
  log->open();  // It is there from the start, as that of a worker of this machine is.
  return log;
}

/// The threads must outlive it, even if this object goes.
void RemoteAgent::close_log(node::LogFile& log, std::function<void()> closed) {
  log.close([threads = log_threads_, closed = std::move(closed)] { closed(); });
}

void RemoteAgent::pause_or_resume() {
  const bool pause = full_sink_ || !full_logs_.empty();
  if (std::exchange(paused_, pause) == pause) return;
  channel_->send(pause ? wire::to_frame(PauseOutput{}) : wire::to_frame(ResumeOutput{}));
}

/// The agent asks four times in each lease. One that does not ask for the length of a lease has
/// none.
void RemoteAgent::wait_for_sign_of_life() {
  silence_.expires_after(lease_);
  silence_.async_wait([this, here = std::weak_ptr(alive_)](const boost::system::error_code& failure) {
    if (!failure && here.lock())
      lose("it gave no sign of life for " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(lease_).count()) + " s");
  });
}

void RemoteAgent::lose(const std::string& reason) {
  const auto lost = std::exchange(handlers_.lost, nullptr);
  if (!lost) return;
  silence_.cancel();
  for (auto& [number, done] : std::exchange(examinations_, {})) done({"its node is lost\n"});
  // A tenth more: clocks do not run quite alike.
  const Clock::time_point fenced_until = leaving_ ? Clock::now() : granted_ + lease_ + lease_ / 10;
  lost(leaving_ ? "it left" : reason, fenced_until);
}

Result<void> RemoteAgent::warm(const std::vector<std::string>& preload) {
  channel_->send(wire::to_frame(WarmFactory{preload}));
  return {};
}

Result<void> RemoteAgent::start_worker(const node::WorkerLaunch& launch, wire::Frame first) {
  workers_[launch.worker_id] = {open_log(launch.worker_id, launch.log_path), "", launch.factory.packages};
  StartWorker message{launch, 0};
  // Here both of its outputs are one, in order.
  message.launch.log_path.clear();
  message.launch.error_log_path.clear();
  channel_->send(enclose(std::move(message), std::move(first)));
  return {};
}

void RemoteAgent::send(std::int64_t worker_id, wire::Frame frame) {
  channel_->send(enclose(TellWorker{worker_id, 0}, std::move(frame)));
}

void RemoteAgent::signal_worker(std::int64_t worker_id, int signal) {
  channel_->send(wire::to_frame(SignalWorker{worker_id, signal}));
}

void RemoteAgent::resume_output() {
  full_sink_ = false;
  pause_or_resume();
}

void RemoteAgent::examine(std::int64_t worker_id, Examined done) {
  const std::int64_t number = ++examinations_asked_;
  examinations_[number] = std::move(done);
  channel_->send(wire::to_frame(ExamineWorker{worker_id, number}));
}

void RemoteAgent::dismiss() { channel_->send(wire::to_frame(Dismiss{})); }

Result<void> RemoteAgent::on_frame(const wire::Frame& frame) {
  Result<FromAgent> message = wire::from_frame<FromAgent>(frame);
  if (!message) return message.error();
  return std::visit(
      [&](const auto& what) {
        auto sound = check_message(what);
        if (sound) on(what, frame.blob);
        return sound;
      },
      *message);
}

void RemoteAgent::on(const WorkerTold& message, const wire::Blob& blob) {
  const auto worker = workers_.find(message.worker_id);
  if (worker == workers_.end() || !worker->second.session_error.empty()) return;
  Result<wire::Frame> inner = inner_frame(message.json_size, blob);
  const auto heard = inner ? sink_.worker_message(message.worker_id, std::move(*inner)) : Result<void>(inner.error());
  if (heard) return;
  // As on this machine: the worker is of no more use.
  if (const auto there = workers_.find(message.worker_id); there != workers_.end())
    there->second.session_error = heard.error().message;
  constexpr int kill = 9;
  signal_worker(message.worker_id, kill);
}

void RemoteAgent::on(const WorkerPrinted& message, const wire::Blob& blob) {
  const auto worker = workers_.find(message.worker_id);
  if (worker == workers_.end()) return;
  const std::string_view line = blob ? std::string_view(*blob) : std::string_view();
  const auto& log = worker->second.log;
  if (log && !log->append(std::string(line) + '\n')) full_logs_.insert(message.worker_id);
  if (!sink_.worker_line(message.worker_id, line)) full_sink_ = true;
  pause_or_resume();
}

/// Its exit is reported once its log file has all that it printed.
void RemoteAgent::on(const WorkerGone& message, const wire::Blob& blob) {
  const auto worker = workers_.extract(message.worker_id);
  if (worker.empty()) return;
  ExitStatus status = message.status;
  const std::string& error = worker.mapped().session_error;
  if (status.detail.empty() && !error.empty()) status.detail = "its session broke: " + error;
  const std::shared_ptr<node::LogFile> log = worker.mapped().log;
  const auto report = [this, here = std::weak_ptr(alive_), id = message.worker_id, status, blob, log] {
    if (here.expired()) return;
    if (log && !log->trouble().empty()) sink_.notice(log->trouble());
    sink_.worker_exited(id, status, blob ? *blob : std::string());
  };
  full_logs_.erase(message.worker_id);
  pause_or_resume();
  if (!log) return report();
  close_log(*log, report);
}

void RemoteAgent::on(const WorkerExamined& message, const wire::Blob& blob) {
  auto node = examinations_.extract(message.number);
  if (!node.empty()) node.mapped()({blob ? *blob : std::string(), message.pid, message.cpu_s, message.importing});
}

void RemoteAgent::on(const Noticed& message, const wire::Blob&) { sink_.notice(message.text); }

void RemoteAgent::on(const UseTold& message, const wire::Blob&) {
  use_ = message.use;
  sink_.use_seen();
}

const node::Use* RemoteAgent::use(bool) { return use_ ? &*use_ : nullptr; }

void RemoteAgent::on(const AskLease& message, const wire::Blob&) {
  // Once it is leaving or lost there is no more.
  if (leaving_ || !handlers_.lost) return;
  granted_ = Clock::now();
  channel_->send_ahead(wire::to_frame(GrantLease{message.number}));
  wait_for_sign_of_life();
}

/// A worker that waits for it is still known here: the agent reports its end behind this.
void RemoteAgent::on(const NeedPackage& message, const wire::Blob&) {
  wire::Blob bytes;
  for (const auto& [id, worker] : workers_) {
    for (const node::Package& package : worker.packages) {
      if (package.hash == message.hash) bytes = package.bytes;
    }
  }
  channel_->send(wire::to_frame(PackageBytes{message.hash}, bytes));
}

void RemoteAgent::on(const Preempting& message, const wire::Blob&) {
  if (handlers_.preempting) handlers_.preempting(message.grace_s);
}

void RemoteAgent::on(const Leaving&, const wire::Blob&) { leaving_ = true; }

}  // namespace headway::cluster
