#include "driver/run.hpp"

#include "core/fault_point.hpp"
#include "core/location.hpp"
#include "driver/runtime.hpp"
#include "wire/spawn.hpp"

#include <algorithm>
#include <csignal>

namespace headway::driver {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

Time decision_now() { return Time(steady_clock::now().time_since_epoch()); }

/// Milliseconds since 1970, so many seconds from now.
std::int64_t unix_ms_in(double seconds) {
  const auto then = std::chrono::system_clock::now().time_since_epoch() + std::chrono::duration<double>(seconds);
  return std::chrono::duration_cast<std::chrono::milliseconds>(then).count();
}

/// The checkpoint that a restart resumes from lies in the run's folder; the first attempt's may lie
/// anywhere.
std::string absolute_checkpoint(const RunFolder& folder, const std::string& checkpoint) {
  return checkpoint.front() == '/' || is_remote(checkpoint) ? checkpoint : folder.checkpoint_path(checkpoint);
}

}  // namespace

Run::Run(Runtime& runtime, RunStart start)
    : runtime_(&runtime),
      loop_(runtime.loop()),
      spec_(std::move(start.spec)),
      worker_setup_(std::move(start.worker_setup)),
      task_(std::move(start.task)),
      trainer_(std::move(start.trainer)),
      held_(start.held),
      starts_early_(start.starts_early),
      waits_for_slots_(std::move(start.waits_for_slots)),
      slots_returned_(std::move(start.slots_returned)),
      controller_(spec_),
      folder_(std::make_shared<RunFolder>(join_location(spec_.run.storage_path, spec_.run.name), start.durable_files)),
      working_directories_(StagingRoot::from_environment()),
      front_(std::make_shared<FrontQueue>(std::move(start.woken))),
      alarms_(std::make_shared<FrontQueue>()),
      factory_(std::move(start.factory)),
      validations_(runtime.helper_services(), {spec_, folder_, worker_setup_, std::move(start.validation), factory_},
                   front_, [this](control::Event event) { post(std::move(event)); }),
      artifact_carriers_(runtime.helper_services(), launch()),
      function_workers_(runtime.helper_services(), runtime.spare_places(), launch(), front_),
      storage_(asio::make_strand(runtime.storage_threads().get_executor())),
      outage_(std::make_shared<storage::Outage>(
          storage::real_patience(), [front = front_](const std::string& text) { front->push(RunWarning{text}); })),
      display_timer_(loop_),
      status_file_(loop_, std::chrono::seconds(2),
                   [this](std::function<void()> done) { write_status(std::move(done)); }),
      line_timer_(loop_),
      local_sessions_(std::move(start.local_sessions)) {}

void Run::close_local_sessions() {
  for (wire::Fd& session : local_sessions_) session.close();
}

std::vector<FrontEvent> Run::take_events() {
  bool was_full = false;
  std::vector<FrontEvent> events = front_->take(was_full);
  if (was_full) {
    asio::post(loop_, [self = shared_from_this()] {
      if (!self->detached_) self->runtime_->nodes().resume_output();
    });
  }
  return events;
}

void Run::abort(const std::string& reason) {
  outage_->hurry();
  post(control::AbortAsked{reason});
}

void Run::execute(std::int64_t call_id, std::vector<int> ranks, wire::Blob function) {
  asio::post(loop_, [self = shared_from_this(), call_id, ranks = std::move(ranks), function = std::move(function)] {
    control::RanksCalled called{self->attempt_, {}};
    for (int rank : ranks) {
      // The group is a smaller one by now.
      if (static_cast<std::size_t>(rank) >= self->workers_.size()) {
        self->fail_call(call_id, rank);
        continue;
      }
      Worker& worker = self->workers_[static_cast<std::size_t>(rank)];
      worker.open_calls.push_back(call_id);
      if (worker.gone || self->detached_) {
        self->fail_calls(worker, rank);
      } else {
        called.ranks.push_back(rank);
        self->runtime_->nodes().send(worker.worker_id, wire::to_frame(wire::Execute{call_id}, function));
      }
    }
    self->handle(called);
  });
}

void Run::setup_finished(int attempt, std::optional<RankError> error) {
  post(control::SetupFinished{attempt, std::move(error)});
}

void Run::teardown_finished(int attempt) { post(control::TeardownFinished{attempt}); }

void Run::report_heard() { post(control::ReportHeard{}); }

void Run::callback_failed(const std::string& message) { post(control::FrontFailed{message}); }

void Run::stop(const std::string& reason) { post(control::StopAsked{reason}); }

void Run::pin(std::vector<std::string> checkpoints) { post(control::CheckpointsPinned{std::move(checkpoints)}); }

void Run::start(std::int64_t run_id) {
  run_id_ = run_id;
  // The factory imports its modules while storage is probed.
  if (local_sessions_.empty() && factory_.is_nodes_own()) runtime_->nodes().warm(spec_.preload);
  handle(control::StartAsked{});
}

void Run::let_in() {
  held_ = false;
  if (const auto acquire = std::exchange(held_acquire_, std::nullopt)) carry_out(*acquire);
}

void Run::post(control::Event event) {
  asio::post(loop_, [self = shared_from_this(), event = std::move(event)] { self->handle(event); });
}

void Run::handle(const control::Event& event) {
  if (detached_) return;
  try {
    throw_point("run.event");
    const control::Commands commands = controller_.handle(decision_now(), event);
    status_changed();
    keep_history(event, commands);
    for (const control::Command& command : commands) {
      std::visit([this](const auto& what) { carry_out(what); }, command);
    }
  } catch (...) {
    fail(wire::error_of(std::current_exception()));
  }
  const control::RunState state = controller_.state();
  if (state == control::RunState::closing || is_over(state)) outage_->begin_end();
  if (preempted_ && state >= control::RunState::shutting_down) outage_->hurry();
}

/// The controller is not asked: nobody knows what it has missed. Its journal says that the run can
/// be resumed.
void Run::fail(const Error& error) {
  if (detached_) return;
  const auto self = shared_from_this();  // Until the end of this function.
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    if (!workers_[rank].gone) runtime_->nodes().signal_worker(workers_[rank].worker_id, SIGKILL);
    fail_calls(workers_[rank], static_cast<int>(rank));
  }
  end_early();
  early_.reset();
  validations_.kill_all();
  artifact_carriers_.leave(false);
  function_workers_.leave();
  runtime_->engine().release(run_id_);
  control::RunOutcome outcome;
  outcome.state = "errored";
  outcome.attempts = attempt_;
  outcome.failure = control::RunFailure{
      ErrorKind::internal,
      "Headway's driver failed, so the run has ended; what it has committed is kept. The failure: " + error.message,
      {}};
  carry_out(control::Finish{std::move(outcome), false});
}

void Run::detach() {
  if (detached_) return;
  early_.reset();  // It ends with the runtime's nodes.
  if (finish_) return carry_out(*std::exchange(finish_, std::nullopt));
  handle(control::DriverEnding{"the shutdown of Headway ended the run"});
  detached_ = true;
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) fail_calls(workers_[rank], static_cast<int>(rank));
  function_workers_.leave();
  close_local_sessions();
  if (artifact_sync_) artifact_sync_->stop();
}

int Run::rank_of(std::int64_t worker_id) const {
  // Ranks are started in their order, so their workers' numbers ascend.
  const auto found = std::ranges::lower_bound(workers_, worker_id, {}, &Worker::worker_id);
  if (found == workers_.end() || found->worker_id != worker_id) return -1;
  return static_cast<int>(found - workers_.begin());
}

/// An error ends the worker, with its words.
Result<void> Run::worker_message(std::int64_t worker_id, wire::Frame frame) {
  const int rank = rank_of(worker_id);
  const Result<wire::FromWorker> message = wire::from_frame<wire::FromWorker>(frame);
  const bool is_early = early_ && early_->worker_id == worker_id;
  if (rank < 0 && !is_early) return {};
  if (!message) return message.error();
  if (auto sound = wire::check_message(*message); !sound) return sound;
  if (is_early) {
    if (const auto* ready = std::get_if<wire::SessionReady>(&*message)) early_->pid = ready->pid;
    return {};
  }
  if (std::holds_alternative<wire::OpenRuntime>(*message)) {
    // A tuner's trial with a trainer in it. Without a descriptor it is on another node.
    if (frame.fds.size() == 1) runtime_->take_guest(std::move(frame.fds.front()), factory_);
    return {};
  }
  std::visit([&](const auto& what) { on_message(rank, what, frame.blob); }, *message);
  return {};
}

void Run::on_message(int rank, const wire::SessionReady& message, const wire::Blob&) {
  handle(control::WorkerReady{attempt_, rank, message.pid});
}

void Run::on_message(int rank, const wire::Executed& message, const wire::Blob& blob) {
  std::erase(workers_[static_cast<std::size_t>(rank)].open_calls, message.call_id);
  front_->push(CallExecuted{message.call_id, rank, message.error, blob});
  handle(control::CallAnswered{attempt_, rank});
}

void Run::on_message(int rank, const wire::Reported& message, const wire::Blob&) {
  handle(control::RankReported{attempt_, rank, message.index, message.metrics, message.checkpoint, message.validation,
                               message.reduce, message.data});
}

void Run::on_message(int rank, const wire::Arrived& message, const wire::Blob& blob) {
  if (blob) collective_bytes_[rank] = blob;
  handle(control::RankArrived{attempt_, rank, message.index, message.kind, message.root});
}

void Run::on_message(int rank, const wire::Uploaded& message, const wire::Blob&) {
  handle(control::RankUploaded{attempt_, rank, message.index, message.files, message.error, message.stored_name,
                               message.unseen});
}

void Run::on_message(int rank, const wire::Progressed& message, const wire::Blob&) {
  handle(control::RankProgressed{attempt_, rank, message.progress});
}

void Run::on_message(int rank, const wire::TrainingReturned&, const wire::Blob& blob) {
  if (rank == 0) front_->push(FunctionReturned{blob});
  handle(control::RankReturned{attempt_, rank});
}

void Run::on_message(int rank, const wire::TrainingRaised& message, const wire::Blob& blob) {
  front_->push(FunctionRaised{attempt_, rank, blob});
  handle(control::RankRaised{attempt_, rank, message.error});
}

void Run::worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  if (early_ && early_->worker_id == worker_id) {
    early_.reset();
    if (const auto finish = std::exchange(finish_, std::nullopt)) carry_out(*finish);
    return;
  }
  const int rank = rank_of(worker_id);
  if (rank < 0) return;
  Worker& worker = workers_[static_cast<std::size_t>(rank)];
  worker.gone = true;
  fail_calls(worker, rank);
  function_workers_.forget(slots_.at(static_cast<std::size_t>(rank)).node_id);
  handle(control::WorkerExited{attempt_, rank, status, log_tail});
  if (std::all_of(workers_.begin(), workers_.end(), [](const Worker& each) { return each.gone; })) {
    handle(control::GroupEnded{attempt_});
  }
}

void Run::node_lost(const std::string& node_id, const std::string& reason) {
  handle(control::NodeLost{node_id, reason});
}

void Run::node_preempted(const std::string& node_id, double grace_s) {
  handle(control::NodePreempted{node_id, grace_s, unix_ms_in(grace_s)});
}

void Run::driver_preempted(double notice_s) {
  if (!hears_termination()) return;
  preempted_ = true;
  handle(control::DriverPreempted{notice_s, unix_ms_in(notice_s)});
}

void Run::capacity_changed() { handle(control::CapacityChanged{}); }

void Run::fail_calls(Worker& worker, int rank) {
  for (std::int64_t call_id : std::exchange(worker.open_calls, {})) fail_call(call_id, rank);
}

void Run::fail_call(std::int64_t call_id, int rank) {
  RankError error{"WorkerDied", "rank " + std::to_string(rank) + "'s process is gone", "", false};
  front_->push(CallExecuted{call_id, rank, std::move(error), nullptr});
}

bool Run::worker_line(std::int64_t worker_id, std::string_view line) {
  const int rank = rank_of(worker_id);
  if (rank < 0) return true;
  if (!line.ends_with('\r')) return front_->push_line(rank, line);
  // One line is enough for all ranks: theirs look alike.
  if (rank == 0) {
    line.remove_suffix(1);
    front_->push_latest(RankRedraws{0, std::make_shared<const std::string>(line)});
  }
  return true;
}

void Run::warn(const std::string& text) { front_->push(RunWarning{text}); }

void Run::notify(const std::string& text) { front_->push(Notice{text}); }

/// Shows reports ten times a second at most: the display must not cost the training its CPUs.
void Run::wake_display() {
  if (std::exchange(display_waits_, true)) return;
  display_timer_.expires_after(std::chrono::milliseconds(100));
  display_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failure) {
    if (failure) return;
    self->display_waits_ = false;
    self->front_->wake();
  });
}

void Run::send_to(int attempt, int rank, wire::Frame frame) {
  if (attempt == attempt_)
    runtime_->nodes().send(workers_.at(static_cast<std::size_t>(rank)).worker_id, std::move(frame));
}

/// What is the same for all workers of an attempt, but for their roles.
wire::StartSession Run::session_start() const {
  wire::StartSession start;
  start.run_name = spec_.run.name;
  start.run_directory = folder_->path();
  start.metadata = spec_.metadata;
  start.resources = worker_claim(spec_.scaling).hard;
  start.resources.emplace("CPU", 1);  // The implied one.
  start.setup = worker_setup_;
  return start;
}

wire::RankRole Run::rank_role(const control::StartWorkers& command) const {
  wire::RankRole role;
  role.world_size = static_cast<int>(command.plans.size());
  role.attempt = attempt_;
  if (command.checkpoint) role.checkpoint = absolute_checkpoint(*folder_, *command.checkpoint);
  role.working_directory = working_directories_.working_directory(spec_.run.name, command.trial_id);
  role.enter_working_directory = spec_.enter_working_directory;
  return role;
}

/// The factory of the run's workers.
node::WorkerLaunch Run::launch() const {
  node::WorkerLaunch launch;
  launch.preload = spec_.preload;
  launch.factory = factory_;
  return launch;
}

void Run::start_worker(const control::StartWorkers& command, const WorkerPlan& plan, const std::string& visible_gpus) {
  const std::int64_t id = runtime_->routes().add(weak_from_this());
  const std::string& node_id = plan.slot.node_id;
  if (node_id != runtime_->node_id() && node_id != attached_node) artifact_carriers_.note(plan.slot);
  workers_.push_back({id, false, {}});
  const Result<void> started = start_process(id, command, plan, visible_gpus);
  if (started) return;
  asio::post(loop_, [self = shared_from_this(), id, why = started.error().message] {
    self->worker_exited(id, {false, 127, why}, "");
  });
}

Result<void> Run::start_process(std::int64_t worker_id, const control::StartWorkers& command, const WorkerPlan& plan,
                                const std::string& visible_gpus) {
  node::WorkerLaunch launch = this->launch();
  launch.worker_id = worker_id;
  launch.scratch = std::to_string(run_id_) + "." + std::to_string(command.attempt);
  launch.env["CUDA_VISIBLE_DEVICES"] = visible_gpus;
  if (spec_.log_to_file) {
    const std::vector<std::string> names = spec_.log_names.value_or(std::vector<std::string>{"log"});
    launch.log_path = folder_->log_path(plan.rank, names.front());
    if (names.size() > 1) launch.error_log_path = folder_->log_path(plan.rank, names.back());
  }
  wire::StartSession start = session_start();
  start.plan = plan;
  start.trial_id = command.trial_id;
  start.role = wire::role_json(rank_role(command));
  if (local_sessions_.empty()) {
    return runtime_->nodes().start_worker(plan.slot.node_id, launch, wire::to_frame(start));
  }
  wire::Fd& session = local_sessions_.at(static_cast<std::size_t>(plan.rank));
  return runtime_->nodes().adopt(plan.slot.node_id, worker_id, std::move(session), wire::to_frame(start));
}

}  // namespace headway::driver
