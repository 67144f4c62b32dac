#include "control/marks.hpp"
#include "control/run_controller.hpp"
#include "core/location.hpp"

/// What is done beside training: old checkpoints go, working directories are brought to storage, and the end of a run waits for what
/// is under way.
namespace headway::control {

void RunController::delete_old() {
  if (lost_) return;
  for (DeleteCheckpoint& command : deletions_.begin()) out_.push_back(std::move(command));
}

void RunController::on(const CheckpointDeleted& event) {
  if (auto warning = deletions_.end(event, state_ == RunState::closing)) out_.push_back(Warn{std::move(*warning)});
  write_last_journal();
}

/// From this driver's first attempt on; a restart changes nothing about it.
void RunController::begin_upkeep() {
  if (sync_.enabled() && attempt_ == attempts_before_ + 1) sync_period_timer_ = upkeep_timer(sync_.period());
}

void RunController::sync_artifacts() {
  if (lost_ || !sync_.ask()) return;
  out_.push_back(SyncArtifacts{sync_.begin()});
  if (state_ != RunState::closing) sync_limit_timer_ = upkeep_timer(sync_.timeout());
}

void RunController::on(const ArtifactsSynced& event) {
  SyncSchedule::Ended ended = sync_.end(event.number, event.error);
  if (ended.warning) {
    HEADWAY_MARK(copy_failed);
    out_.push_back(Warn{"the ranks' working directory could not be brought to artifacts/: " + *ended.warning});
  }
  if (ended.again) sync_artifacts();
  write_last_journal();
}

bool RunController::on_upkeep_timer(std::int64_t timer) {
  if (timer == sync_period_timer_) {
    if (state_ != RunState::closing) {
      sync_artifacts();
      sync_period_timer_ = upkeep_timer(sync_.period());
    }
  } else if (timer == sync_limit_timer_) {
    stop_slow_sync();
  } else {
    return false;
  }
  return true;
}

void RunController::stop_slow_sync() {
  if (!sync_.under_way()) return;
  HEADWAY_MARK(copy_stopped);
  const bool last = state_ == RunState::closing;
  out_.push_back(StopSync{*sync_.under_way()});
  sync_.give_up();
  const Duration limit = last && abort_reason_ ? abort_sync_grace : sync_.timeout();
  out_.push_back(Warn{"bringing the ranks' working directory to artifacts/ was not through after " +
                      number_text(to_seconds(limit)) + " s and was stopped" +
                      (last ? "; what was not brought there stays where it is" : "")});
  write_last_journal();
}

std::int64_t RunController::upkeep_timer(Duration from_now) {
  out_.push_back(SetTimer{timers_set_, now_ + from_now});
  return timers_set_++;
}

void RunController::close_run() {
  if (state_ == RunState::created || state_ == RunState::preparing) {
    HEADWAY_MARK(abort_before_storage);
    finish();  // Without a journal: whether the folder is ours is not known yet.
    return;
  }
  if (state_ != RunState::validating) out_.push_back(ReleaseNodes{});
  state_ = RunState::closing;
  stop_validations(abort_reason_.value_or("the run ends"));
  if (lost_) {
    if (sync_.under_way()) out_.push_back(StopSync{*sync_.under_way()});
    sync_.give_up();
  } else {
    delete_old();
    if (sync_.enabled() && attempt_ > attempts_before_) {
      sync_artifacts();
      sync_limit_timer_ = upkeep_timer(abort_reason_ ? abort_sync_grace : sync_.timeout());
    }
  }
  write_last_journal();
}

/// Not while one is under way: what it misses, the next one brings.
void RunController::sync_folder() {
  if (!is_remote(spec_.run.storage_path) || sync_under_way_ || lost_) return;
  sync_under_way_ = true;
  out_.push_back(SyncFolder{});
}

void RunController::on(const FolderSynced& event) {
  sync_under_way_ = false;
  if (event.error && event.error->kind == ErrorKind::superseded) {
    lose_run(*event.error);
    return;
  }
  if (event.error && !sync_failed_) {
    HEADWAY_MARK(sync_failed);
    out_.push_back(
        Warn{"the run's files could not all be brought to storage (it is tried again): " + event.error->message});
  }
  sync_failed_ = event.error.has_value();
}

/// Once nothing is under way any more that it should tell. A folder that is lost gets none.
void RunController::write_last_journal() {
  if (state_ != RunState::closing || last_journal_ || deletions_.under_way() || sync_.under_way() ||
      validations_.any_process() || (lost_ && journals_under_way_ > 0))
    return;
  if (attempt_ > attempts_before_) out_.push_back(LeaveWorkingDirectory{!lost_ && sync_.complete()});
  if (lost_) {
    finish();
    return;
  }
  last_journal_ = true;
  write_journal();
}

}  // namespace headway::control
