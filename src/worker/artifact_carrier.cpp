#include "worker/artifact_carrier.hpp"

#include "core/location.hpp"
#include "core/lock_name.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/lock_file.hpp"

#include <unistd.h>

namespace headway::worker {

ArtifactCarrier::ArtifactCarrier(const wire::StartSession& context, const wire::ArtifactRole& role)
    : directory_(role.working_directory),
      copier_(directory_, join_location(context.run_directory, "artifacts"), "artifact." + context.plan.slot.node_id) {}

std::optional<std::string> ArtifactCarrier::bring(const std::stop_token& stop) {
  if (is_drivers()) return std::nullopt;
  const Result<void> brought = copier_.copy(stop);
  return brought ? std::nullopt : std::optional(brought.error().message);
}

void ArtifactCarrier::remove_directory() const {
  if (is_drivers() || !storage::remove_tree(directory_)) return;
  const std::string all_of_run = storage::parent_of(directory_);
  rmdir(all_of_run.c_str());
  rmdir(storage::parent_of(all_of_run).c_str());
}

bool ArtifactCarrier::is_drivers() const {
  const std::string path = directory_ + std::string(lock_suffix);
  if (access(path.c_str(), F_OK) != 0) return false;
  Result<storage::LockFile> lock = storage::LockFile::open(path);
  if (!lock) return false;
  const Result<bool> free = lock->try_exclusive();
  if (!free || !*free) return true;
  lock->remove();  // A driver that was killed here has left it.
  return false;
}

}  // namespace headway::worker
