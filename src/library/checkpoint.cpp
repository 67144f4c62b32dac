#include <headway/checkpoint.hpp>

#include "storage/storage.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace headway {
namespace {

// Storage takes absolute paths only; a program's working directory may change after the checkpoint was opened.
Result<std::string> absolute_path(const std::string& path) {
  if (path.empty()) return Error{ErrorKind::invalid_argument, "path is empty; a checkpoint's directory is needed"};
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

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& path) {
  Result<std::string> absolute = absolute_path(path);
  if (!absolute) return absolute.error();
  Result<Manifest> manifest = storage::read_manifest(*absolute);
  if (!manifest) return manifest.error();

  Checkpoint checkpoint;
  checkpoint.path_ = *std::move(absolute);
  checkpoint.index_ = manifest->index;
  checkpoint.metrics_json_ = json_text(manifest->metrics);
  checkpoint.files_ = to_files(std::move(manifest->files));
  return checkpoint;
}

Result<void> Checkpoint::verify() const { return storage::verify(path_); }

}  // namespace headway
