#include <headway/checkpoint.hpp>

#include "core/location.hpp"
#include "library/arrow_libraries.hpp"
#include "storage/checkpoint/checkpoint_copy.hpp"
#include "storage/checkpoint/fetch.hpp"
#include "storage/checkpoint/shared_download.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/storage.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace headway {
namespace {

// Storage takes absolute paths only; a program's working directory may change after the checkpoint
// was opened.
Result<std::string> absolute_path(const std::string& path) {
  if (path.empty()) return Error{ErrorKind::invalid_argument, "path is empty; a checkpoint's directory is needed"};
  if (!scheme_of(path).empty()) {
    library::prepare_location(path);
    return path;
  }
  std::error_code failure;
  const std::filesystem::path absolute = std::filesystem::absolute(path, failure);
  if (failure) return Error{ErrorKind::unavailable, path + ": " + failure.message()};
  return absolute.lexically_normal().string();
}

std::vector<CheckpointFile> to_files(std::vector<FileRecord> records) {
  std::vector<CheckpointFile> files;
  files.reserve(records.size());
  for (FileRecord& record : records) {
    files.push_back({std::move(record.name), record.size, std::move(record.checksum), record.rank});
  }
  return files;
}

storage::OnProgress to_storage(const OnCheckpointProgress& on_progress) {
  if (!on_progress) return {};
  return [&on_progress](const storage::Progress& progress) {
    on_progress({progress.bytes, progress.bytes_total, progress.files, progress.files_total});
  };
}

}  // namespace

Checkpoint Checkpoint::from_directory(const std::string& path) {
  Checkpoint checkpoint;
  const Result<std::string> absolute = absolute_path(path);
  checkpoint.path_ = absolute ? *absolute : path;
  return checkpoint;
}

Result<Checkpoint> Checkpoint::open(const std::string& path) {
  Result<std::string> absolute = absolute_path(path);
  if (!absolute) return absolute.error();
  Result<Manifest> manifest = storage::read_manifest_or_offer(*absolute);
  if (!manifest) return manifest.error();

  Checkpoint checkpoint;
  checkpoint.path_ = *std::move(absolute);
  checkpoint.index_ = manifest->index;
  checkpoint.metrics_json_ = json_text(manifest->metrics);
  checkpoint.files_ = to_files(std::move(manifest->files));
  return checkpoint;
}

Result<CheckpointDirectory> Checkpoint::as_directory() const {
  if (!is_remote(path_)) {
    std::error_code failure;
    if (std::filesystem::is_directory(path_, failure)) return CheckpointDirectory(path_, nullptr);
    return Error{ErrorKind::not_found, path_ + " is no directory, so there is no checkpoint in it"};
  }
  Result<std::string> base = storage::downloads_directory();
  if (!base) return base.error();
  auto shared = storage::SharedDownload::get(
      *base, path_, [this](const std::string& directory) { return storage::fetch(path_, directory); });
  if (!shared) return shared.error();
  auto held = std::make_shared<storage::SharedDownload>(std::move(*shared));
  std::string path = held->directory();
  return CheckpointDirectory(std::move(path), std::move(held));
}

Result<void> Checkpoint::to_directory(const std::string& target) const {
  const Result<std::string> absolute = absolute_path(target);
  if (!absolute) return absolute.error();
  return storage::fetch(path_, *absolute);
}

Result<Checkpoint> Checkpoint::newest_good(const std::string& run_directory) {
  const Result<std::string> absolute = absolute_path(run_directory);
  if (!absolute) return absolute.error();
  const Result<std::optional<Manifest>> good = storage::newest_good(*absolute);
  if (!good) return good.error();
  if (*good) return open(join_location(*absolute, (*good)->checkpoint));
  return Error{ErrorKind::not_found, "there is no good checkpoint in " + *absolute};
}

Result<void> Checkpoint::verify(const OnCheckpointProgress& on_progress) const {
  const Result<std::vector<CheckpointDamage>> damaged = examine(on_progress);
  if (!damaged) return damaged.error();
  if (damaged->empty()) return {};
  const CheckpointDamage& first = damaged->front();
  return Error{ErrorKind::corrupted, storage::to_text({first.file, first.expected, first.found})};
}

Result<std::vector<CheckpointDamage>> Checkpoint::examine(const OnCheckpointProgress& on_progress) const {
  const Result<storage::Verification> found = storage::examine(path_, to_storage(on_progress));
  if (!found) return found.error();
  std::vector<CheckpointDamage> damaged;
  for (const storage::Damage& each : found->damaged) damaged.push_back({each.file, each.expected, each.found});
  return damaged;
}

Result<Checkpoint> Checkpoint::copy_to(const std::string& target, const OnCheckpointProgress& on_progress) const {
  const Result<std::string> absolute = absolute_path(target);
  if (!absolute) return absolute.error();
  const Result<Manifest> copied = storage::copy_checkpoint(path_, *absolute, to_storage(on_progress));
  if (!copied) return copied.error();
  return open(*absolute);
}

}  // namespace headway
