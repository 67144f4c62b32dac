#include "core/location.hpp"
#include "core/manifest.hpp"
#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"

/// How the commands beside training are carried out: what is deleted, and what becomes of the
/// ranks' working directories. And what their data sets tell and want.
namespace headway::driver {

namespace asio = boost::asio;

void Run::carry_out(const control::DeleteCheckpoint& command) {
  on_storage([folder = folder_, command]() -> control::Event {
    const auto removed = storage::remove_checkpoint(folder->checkpoint_path(command.name));
    return control::CheckpointDeleted{command.name, removed ? std::nullopt : std::optional(removed.error())};
  });
}

void Run::carry_out(const control::SyncArtifacts& command) {
  if (!artifact_sync_) {
    artifact_sync_ = std::make_unique<ArtifactSync>(runtime_->artifact_threads(), working_directory_,
                                                    join_location(folder_->path(), "artifacts"));
  }
  struct Both {
    int awaited = 2;
    std::optional<std::string> first_error;
  };
  const auto ended = [weak = weak_from_this(), command, both = std::make_shared<Both>()](auto error) {
    if (!both->first_error) both->first_error = std::move(error);
    const auto self = weak.lock();
    if (--both->awaited == 0 && self) self->post(control::ArtifactsSynced{command.number, both->first_error});
  };
  artifact_sync_->start([loop = &loop_, ended](std::optional<std::string> error) {
    asio::post(*loop, [ended, error = std::move(error)] { ended(error); });
  });
  wire::StartSession start = session_start();
  start.trial_id = spec_.trial_id;
  start.role = wire::role_json(wire::ArtifactRole{working_directory_});
  artifact_carriers_.bring(start, weak_from_this(), ended);
}

void Run::carry_out(const control::StopSync&) {
  artifact_sync_->stop();
  artifact_carriers_.stop();
}

void Run::carry_out(const control::LeaveWorkingDirectory& command) {
  artifact_carriers_.leave(command.synced);
  if (artifact_sync_ && !command.synced) remove_halves_of_artifacts();
  do_on_storage([self = shared_from_this(), path = working_directory_, command] {
    const Result<bool> stays = self->working_directories_.leave(path, command.synced, self->working_directory_lock_);
    if (!stays) {
      self->warn("the ranks' working directory could not be removed: " + stays.error().message);
    } else if (*stays) {
      const char* hint =
          self->spec_.sync.sync_artifacts ? "" : " (with SyncConfig.sync_artifacts it comes to the run's folder)";
      self->notify("what the ranks wrote into their working directory is in " + path + hint);
    }
  });
}

void Run::on_message(int rank, const wire::DataProgressed& message, const wire::Blob&) {
  handle(control::RankDataProgressed{attempt_, rank, message.progress});
}

void Run::on_message(int rank, const wire::FunctionWorkersWanted& message, const wire::Blob&) {
  if (detached_) return;  // A rank that is not dead yet.
  wire::StartSession start = session_start();
  start.trial_id = spec_.trial_id;
  function_workers_.want(slots_.at(static_cast<std::size_t>(rank)), message, slots_, start, weak_from_this());
}

/// What copies that were stopped, here or on other machines, may leave a moment later, or for ever.
void Run::remove_halves_of_artifacts() {
  const std::string artifacts = join_location(folder_->path(), "artifacts");
  if (is_remote(artifacts)) return;
  do_on_storage([artifacts] {
    const auto names = storage::read_directory(artifacts);
    if (!names) return;
    for (const std::string& name : *names) {
      if (name.starts_with(part_prefix)) (void)storage::remove_tree(storage::join(artifacts, name));
    }
  });
}

}  // namespace headway::driver
