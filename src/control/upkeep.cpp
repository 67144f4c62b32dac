#include "control/upkeep.hpp"

#include "control/marks.hpp"

namespace headway::control {

void Upkeep::begin_folder_syncs(Outbox& out) {
  if (remote_) out.set_timer({TimerPurpose::folder_sync}, sync_interval);
}

void Upkeep::folder_sync_is_due(Outbox& out) {
  sync_folder(out);
  out.set_timer({TimerPurpose::folder_sync}, sync_interval);
}

void Upkeep::sync_folder(Outbox& out) {
  if (!remote_ || syncing_ || lost_) return;
  syncing_ = true;
  out.push(SyncFolder{});
}

void Upkeep::folder_synced(const std::optional<Error>& error, Outbox& out) {
  syncing_ = false;
  if (error && error->kind == ErrorKind::superseded) return;
  if (error && !sync_failed_) {
    HEADWAY_MARK(sync_failed);
    out.push(Warn{"the run's files could not all be brought to storage (it is tried again): " + error->message});
  }
  sync_failed_ = error.has_value();
}

void Upkeep::begin_copies(Outbox& out) {
  if (artifacts_.enabled()) out.reset_timer({TimerPurpose::artifacts}, out.now() + artifacts_.period());
}

void Upkeep::copy_is_due(Outbox& out) {
  if (closing_) return;
  copy(out);
  out.reset_timer({TimerPurpose::artifacts}, out.now() + artifacts_.period());
}

void Upkeep::copy_after_checkpoint(Outbox& out) {
  if (artifacts_.on_checkpoint()) copy(out);
}

void Upkeep::copy(Outbox& out) {
  if (lost_ || !artifacts_.ask()) return;
  out.push(SyncArtifacts{artifacts_.begin()});
  if (!closing_) out.reset_timer({TimerPurpose::artifacts_limit}, out.now() + artifacts_.timeout());
}

void Upkeep::copied(const ArtifactsSynced& event, Outbox& out) {
  SyncSchedule::Ended ended = artifacts_.end(event.number, event.error);
  if (ended.warning) {
    HEADWAY_MARK(copy_failed);
    out.push(Warn{"the ranks' working directory could not be brought to artifacts/: " + *ended.warning});
  }
  if (ended.again) copy(out);
}

bool Upkeep::stop_slow_copy(Outbox& out) {
  if (!artifacts_.under_way()) return false;
  HEADWAY_MARK(copy_stopped);
  out.push(StopSync{*artifacts_.under_way()});
  artifacts_.give_up();
  out.push(Warn{"bringing the ranks' working directory to artifacts/ was not through after " +
                number_text(to_seconds(last_limit())) + " s and was stopped" +
                (closing_ ? "; what was not brought there stays where it is" : "")});
  return true;
}

void Upkeep::close(bool ranks_worked, bool aborted, Outbox& out) {
  closing_ = true;
  aborted_ = aborted;
  if (lost_) {
    if (artifacts_.under_way()) out.push(StopSync{*artifacts_.under_way()});
    artifacts_.give_up();
  } else if (artifacts_.enabled() && ranks_worked) {
    copy(out);
    out.reset_timer({TimerPurpose::artifacts_limit}, out.now() + last_limit());
  }
}

}  // namespace headway::control
