#include "storage/verification.hpp"

#include "storage/checksum.hpp"
#include "storage/directory.hpp"
#include "storage/file.hpp"
#include "storage/parallel.hpp"
#include "storage/storage.hpp"

#include <algorithm>

namespace headway::storage {

namespace {

using MaybeDamage = std::optional<Damage>;

std::string in_bytes(std::uint64_t size) { return std::to_string(size) + " bytes"; }

/// What is wrong with one file, if anything is.
Result<MaybeDamage> examine_file(const std::string& path, const FileRecord& record, const OnBytes& on_bytes) {
  const Result<File> file = open_regular_file(path, ErrorKind::not_found);
  if (!file) {
    if (file.error().kind == ErrorKind::unavailable) return file.error();
    const bool missing = file.error().kind == ErrorKind::not_found;
    return MaybeDamage({path, "a file of " + in_bytes(record.size), missing ? "no such file" : "no regular file"});
  }
  if (record.checksum.empty() || record.name == metadata_name) return MaybeDamage();
  const Result<struct ::stat> status = file->status();
  if (!status) return status.error();
  const auto size = static_cast<std::uint64_t>(status->st_size);
  if (size != record.size) return MaybeDamage({path, in_bytes(record.size), in_bytes(size)});
  const Result<Content> found = read_content(*file, on_bytes);
  if (!found) return found.error();
  if (found->checksum == record.checksum) return MaybeDamage();
  return MaybeDamage({path, "checksum " + record.checksum, "checksum " + found->checksum});
}

/// What the error about an unreadable manifest says, as damage of that file.
Damage manifest_damage(const std::string& path, std::string message) {
  if (message.starts_with(path)) message.erase(0, path.size());
  const std::size_t words = message.find_first_not_of(": ");
  message.erase(0, words);
  return {path, "a whole manifest", (message.starts_with("is ") ? "one that " : "one with ") + message};
}

}  // namespace

std::string to_text(const Damage& damage) {
  return damage.file + " is damaged: expected " + damage.expected + ", found " + damage.found;
}

Result<Verification> examine(const std::string& checkpoint, const OnProgress& told) {
  Verification verification;
  verification.checkpoint = checkpoint;
  const Result<Manifest> manifest = read_manifest(checkpoint);
  if (!manifest) {
    if (manifest.error().kind != ErrorKind::corrupted) return manifest.error();
    verification.damaged.push_back(manifest_damage(join(checkpoint, manifest_name), manifest.error().message));
    return verification;
  }
  const std::vector<FileRecord>& files = manifest->files;
  for (const FileRecord& file : files) verification.bytes += file.size;
  verification.files = files.size();
  ProgressMeter meter(files.size(), verification.bytes, told);
  std::vector<MaybeDamage> found(files.size());
  const Result<void> read = parallel_for(files.size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    std::uint64_t told_bytes = 0;
    const OnBytes on_bytes = meter.on_bytes();
    const auto count = [&](std::uint64_t bytes) {
      told_bytes += bytes;
      if (on_bytes) on_bytes(bytes);
    };
    Result<MaybeDamage> damage = examine_file(join(checkpoint, files[index].name), files[index], count);
    if (!damage) return damage.error();
    found[index] = std::move(*damage);
    meter.finish_file(files[index].size - std::min(told_bytes, files[index].size));
    return {};
  });
  if (!read) return read.error();
  for (MaybeDamage& damage : found) {
    if (damage) verification.damaged.push_back(std::move(*damage));
  }
  return verification;
}

Result<std::optional<Manifest>> newest_good(const std::string& run_directory) {
  std::vector<Error> unreadable;
  Result<std::vector<Manifest>> manifests = list_checkpoints(run_directory, &unreadable);
  if (!manifests) return manifests.error();
  for (auto manifest = manifests->rbegin(); manifest != manifests->rend(); ++manifest) {
    const Result<Verification> verification = examine(join(run_directory, manifest->checkpoint));
    if (verification && verification->damaged.empty()) return std::optional(std::move(*manifest));
  }
  return std::optional<Manifest>();
}

Error damage_error(const std::string& checkpoint, const Damage& damage) {
  const std::string run_directory = parent_of(checkpoint);
  std::string message = to_text(damage);
  const Result<std::optional<Manifest>> good = newest_good(run_directory);
  if (good && *good) {
    message += "; the newest good checkpoint of this run is " + join(run_directory, (*good)->checkpoint);
  } else if (good) {
    message += "; this run has no good checkpoint";
  }
  return Error{ErrorKind::corrupted, std::move(message)};
}

}  // namespace headway::storage
