#include "core/fault_point.hpp"
#include "driver/result_line.hpp"
#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "driver/unix_time.hpp"
#include "storage/storage.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <set>
#include <unistd.h>

/// How each of the controller's commands is carried out.
namespace headway::driver {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

template <class Outcome>
std::optional<Error> error_of(const Outcome& outcome) {
  if (outcome) return std::nullopt;
  return outcome.error();
}

}  // namespace

void Run::do_on_storage(std::function<void()> work) {
  asio::post(storage_, [self = shared_from_this(), work = std::move(work)] {
    const storage::Outage::Scope scope(self->outage_.get());
    work();
    self->tell_if_lost();
  });
}

/// On the strand. A report, a restart and the end each come by here, so no attempt is begun in a
/// folder that is gone.
void Run::tell_if_lost() {
  if (const auto in_place = folder_->check_in_place(); !in_place) post(control::FolderLost{in_place.error()});
}

void Run::on_storage(std::function<control::Event()> work) {
  asio::post(storage_, [self = shared_from_this(), work = std::move(work)] {
    const storage::Outage::Scope scope(self->outage_.get());
    control::Event event = work();
    self->tell_if_lost();
    self->post(std::move(event));
  });
}

void Run::carry_out(const control::PrepareStorage&) {
  on_storage([self = shared_from_this(), folder = folder_, directories = working_directories_, config = spec_.config,
              trainer = trainer_, guards = runtime_->nodes().guards()]() -> control::Event {
    if (const auto made = directories.prepare(); !made) return control::StoragePrepared{made.error(), {}, {}};
    Result<RunFolder::Prepared> prepared = folder->prepare(config, trainer, this_owner(guards));
    if (!prepared) return control::StoragePrepared{prepared.error(), {}, {}};
    const std::string found_trial_id = prepared->found ? prepared->found->journal.spec.trial_id : "";
    self->working_directory_lock_ = directories.claim(directories.working_directory(
        self->spec_.run.name, found_trial_id.empty() ? self->spec_.trial_id : found_trial_id));
    return control::StoragePrepared{{}, std::move(prepared->found), std::move(prepared->warnings)};
  });
}

void Run::carry_out(const control::AcquireNodes& command) {
  if (held_) {
    held_acquire_ = command;
    start_early(command);
    return;
  }
  if (!local_sessions_.empty()) {  // They are there already, wherever that is.
    std::array<char, 256> hostname{};
    gethostname(hostname.data(), hostname.size() - 1);
    const Slot slot{attached_node, hostname.data(), "127.0.0.1", 1, {}};
    post(control::NodesGranted{std::vector<Slot>(local_sessions_.size(), slot), {}});
    return;
  }
  const engine::Wanted validation{1, 1, worker_claim(spec_.validation), engine::Placement::pack};
  if (const auto possible = runtime_->engine().check_possible(validation); !possible) {
    post(control::NodesRefused{{possible.error().kind, "for a validation, " + possible.error().message}});
    return;
  }
  const auto granted = [weak = weak_from_this()](Result<engine::Grant> grant) {
    const auto self = weak.lock();
    if (!self) return;
    if (grant) {
      if (self->waits_for_slots_) self->waits_for_slots_(false);
      self->post(control::NodesGranted{grant->slots, grant->warnings});
    } else {
      self->post(control::NodesRefused{grant.error()});
    }
  };
  const auto pending = [weak = weak_from_this(), command](const std::string& reason) {
    const auto self = weak.lock();
    if (!self) return;
    self->notify(reason);
    self->start_early(command);
    if (self->waits_for_slots_) self->waits_for_slots_(true);
  };
  runtime_->engine().acquire(run_id_, to_wanted(command), {granted, pending});
}

engine::Wanted Run::to_wanted(const control::AcquireNodes& command) const {
  return {command.workers_min, command.workers, command.claim,
          engine::to_placement(spec_.scaling.placement_strategy.value_or("PACK")),
          spec_.scaling.trainer_resources.value_or(Resources{})};
}

void Run::carry_out(const control::LookForCapacity& command) {
  post(control::CapacitySeen{runtime_->engine().possible(run_id_, to_wanted(command.wanted))});
}

void Run::carry_out(const control::ReleaseNodes& command) {
  held_acquire_.reset();
  runtime_->engine().release(run_id_);
  end_early();
  if (command.early && slots_returned_) slots_returned_();
}

void Run::carry_out(const control::StartWorkers& command) {
  if (!command.words.empty()) notify(command.words);
  attempt_ = command.attempt;
  workers_.clear();
  slots_.clear();
  for (const WorkerPlan& plan : command.plans) slots_.push_back(plan.slot);
  function_workers_.leave();
  collective_bytes_.clear();
  working_directory_ = working_directories_.working_directory(spec_.run.name, command.trial_id);
  if (take_early(command)) return;
  // Every rank sees all of the group's devices on its node in one order, and picks its own.
  std::map<std::string, std::string> gpus;
  std::set<std::pair<std::string, std::string>> seen;
  for (const WorkerPlan& plan : command.plans) {
    std::string& here = gpus[plan.slot.node_id];
    for (const std::string& id : plan.slot.gpu_ids) {
      if (seen.emplace(plan.slot.node_id, id).second) here += (here.empty() ? "" : ",") + id;
    }
  }
  for (const WorkerPlan& plan : command.plans) start_worker(command, plan, gpus[plan.slot.node_id]);
}

void Run::carry_out(const control::RunSetup& command) {
  front_->push(SetupAsked{command.attempt, static_cast<int>(workers_.size())});
}

void Run::carry_out(const control::BeginTraining& command) {
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    send_to(command.attempt, static_cast<int>(rank), wire::to_frame(wire::Train{}, task_));
  }
}

void Run::carry_out(const control::BeginCheckpoint& command) {
  on_storage([folder = folder_, command]() -> control::Event {
    return control::CheckpointBegun{command.attempt, command.index,
                                    error_of(storage::begin_checkpoint(folder->checkpoint_path(command.name)))};
  });
}

void Run::carry_out(const control::UploadFiles& command) {
  const wire::Upload order{command.index, folder_->checkpoint_path(command.name), command.name, command.files,
                           command.beside};
  send_to(command.attempt, command.rank, wire::to_frame(order));
}

void Run::carry_out(const control::CommitCheckpoint& command) {
  on_storage([folder = folder_, command]() -> control::Event {
    Manifest manifest = command.manifest;
    manifest.created_unix_s = unix_seconds();
    const auto committed = folder->commit(manifest, command.source);
    fault_point("commit.answer");
    return control::CheckpointCommitted{command.index, error_of(committed)};
  });
}

void Run::carry_out(const control::DiscardCheckpoint& command) {
  do_on_storage([self = shared_from_this(), command] {
    const auto discarded = storage::discard_unfinished(self->folder_->checkpoint_path(command.name));
    if (!discarded) self->warn("an unfinished checkpoint could not be removed: " + discarded.error().message);
  });
}

void Run::carry_out(const control::AnswerReport& command) {
  wire::ReportAnswered answer{command.index, std::nullopt, command.error, command.dropped};
  if (command.checkpoint) answer.checkpoint = folder_->checkpoint_path(*command.checkpoint);
  send_to(command.attempt, command.rank, wire::to_frame(answer));
}

void Run::carry_out(const control::ReleaseCollective& command) {
  const auto given = std::exchange(collective_bytes_, {});
  wire::Blob for_all;
  if (command.preemption) for_all = std::make_shared<const std::string>(to_json_text(*command.preemption));
  const auto bytes = command.root ? given.find(*command.root) : given.end();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const int rank = static_cast<int>(i);
    // The root has its own bytes.
    const wire::Blob blob = bytes != given.end() && rank != *command.root ? bytes->second : for_all;
    send_to(command.attempt, rank, wire::to_frame(wire::CollectiveDone{command.index}, blob));
  }
}

void Run::carry_out(const control::AnnounceCheckpoint& command) {
  const wire::CheckpointStored stored{command.index, folder_->checkpoint_path(command.name)};
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    send_to(command.attempt, static_cast<int>(rank), wire::to_frame(stored));
  }
}

void Run::carry_out(const control::AppendResult& command) {
  do_on_storage([self = shared_from_this(), command] {
    fault_point("result.begin");
    if (const auto in_place = self->folder_->check_in_place(); !in_place) {
      self->post(control::FolderLost{in_place.error()});
      return;
    }
    const double now = unix_seconds();
    const JsonObject line = result_line(command.line, now);
    const std::string text = json_text(line);
    for (const std::string& warning : self->folder_->append(text)) self->warn(warning);
    fault_point("result.end");
    self->front_->push_report(line);
    if (command.rank_metrics) self->front_->push(CallbackReport{line, *command.rank_metrics});
    for (const std::string& warning : self->folder_->views().append(command.line, line, now)) self->warn(warning);
  });
  wake_display();
}

void Run::read_results(std::int64_t count, std::function<void(std::vector<JsonObject> lines)> done) {
  do_on_storage([self = shared_from_this(), count, done = std::move(done)] {
    std::vector<JsonObject> lines;
    std::ifstream file(self->folder_->local_path() + "/result.json");
    std::string text;
    for (std::int64_t number = 0; std::getline(file, text); ++number) {
      if (number < count) continue;
      const Result<Json> line = parse_json(text, "result.json");
      if (line && line->is_object()) lines.push_back(line->get_object());
    }
    asio::post(self->loop_, [done, lines = std::move(lines)]() mutable { done(std::move(lines)); });
  });
}

void Run::carry_out(const control::KeepStepTimes& command) {
  do_on_storage([folder = folder_, command] { folder->write_step_times(command.times); });
}

void Run::carry_out(const control::KeepDataTimes& command) {
  do_on_storage([folder = folder_, command] { folder->write_data_times(command.times); });
}

void Run::carry_out(const control::TellFailure& command) {
  front_->push(AttemptFailed{command.failed_attempt, command.failure});
}

void Run::carry_out(const control::RunTeardown& command) { front_->push(TeardownAsked{command.attempt}); }

void Run::carry_out(const control::EndWorkers& command) {
  for (const Worker& worker : workers_) {
    if (worker.gone) continue;
    switch (command.mode) {
      case control::EndMode::graceful:
        runtime_->nodes().send(worker.worker_id, wire::to_frame(wire::EndSession{}));
        break;
      case control::EndMode::terminate:
        runtime_->nodes().send(worker.worker_id, wire::to_frame(wire::LeaveReport{}));
        runtime_->nodes().signal_worker(worker.worker_id, SIGTERM);
        break;
      case control::EndMode::kill: runtime_->nodes().signal_worker(worker.worker_id, SIGKILL); break;
    }
  }
}

void Run::carry_out(const control::SweepStorage&) {
  do_on_storage([self = shared_from_this()] {
    const auto swept = storage::sweep(self->folder_->path());
    if (!swept) self->warn("unfinished checkpoints could not be removed: " + swept.error().message);
  });
}

void Run::carry_out(const control::SetTimer& command) {
  const auto at =
      steady_clock::time_point(std::chrono::duration_cast<steady_clock::duration>(command.at.time_since_epoch()));
  auto timer = std::make_shared<asio::steady_timer>(loop_, at);
  timers_[command.timer] = timer;
  timer->async_wait([self = shared_from_this(), id = command.timer](const boost::system::error_code& failure) {
    self->timers_.erase(id);
    if (!failure) self->handle(control::TimerFired{id});
  });
}

void Run::carry_out(const control::SyncFolder&) {
  on_storage([folder = folder_]() -> control::Event { return control::FolderSynced{error_of(folder->sync(false))}; });
}

void Run::carry_out(const control::WriteJournal& command) {
  on_storage([folder = folder_, command]() -> control::Event {
    return control::JournalWritten{error_of(folder->write_journal(command.snapshot))};
  });
}

void Run::carry_out(const control::Warn& command) {
  if (command.urgent) {
    alarms_->push(RunWarning{command.text});
  } else {
    warn(command.text);
  }
}

void Run::carry_out(const control::Notify& command) { notify(command.text); }

void Run::carry_out(const control::Finish& command) {
  if (early_) {  // Whoever hears of the end can have the folder.
    end_early();
    finish_ = command;
    return;
  }
  function_workers_.leave();
  for (auto& [id, timer] : timers_) timer->cancel();
  display_timer_.cancel();
  end_status();
  // After everything else that storage has to do: what fit() returns is complete.
  do_on_storage([self = shared_from_this(), command, unused = working_directory_.empty()] {
    storage::LockFile lock = std::move(self->working_directory_lock_);
    if (unused && lock.is_open()) (void)self->working_directories_.leave(directory_of(lock.path()), false, lock);
    for (const std::string& warning : self->folder_->close(!command.folder_lost)) self->warn(warning);
    if (!command.words.empty()) self->notify(command.words);
    self->front_->push(Finished{command.outcome, self->folder_->last_line()});
  });
  close_local_sessions();
  runtime_->publisher().run_ended(status());
  runtime_->forget_run(run_id_);
  detached_ = true;
}

}  // namespace headway::driver
