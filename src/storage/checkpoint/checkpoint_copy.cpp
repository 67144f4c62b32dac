#include "storage/checkpoint/checkpoint_copy.hpp"

#include "core/location.hpp"
#include "storage/checkpoint/fetch.hpp"
#include "storage/checkpoint/shared_download.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"

#include <algorithm>

namespace headway::storage {

namespace {

std::vector<std::string> names_of(const std::vector<FileRecord>& files) {
  std::vector<std::string> names;
  for (const FileRecord& file : files) names.push_back(file.name);
  return names;
}

/// The names of the files to copy. What was recorded without checksums may have grown since.
Result<std::vector<std::string>> names_to_copy(const std::string& source, const Manifest& manifest) {
  const auto unchecked = [](const FileRecord& file) { return file.checksum.empty(); };
  if (!manifest.files.empty() && std::none_of(manifest.files.begin(), manifest.files.end(), unchecked))
    return names_of(manifest.files);
  const Result<std::vector<FileRecord>> files = list_files(source);
  if (!files) return files.error();
  return names_of(*files);
}

/// Each copied file keeps the rank that wrote it.
void keep_ranks(std::vector<FileRecord>& copied, const Manifest& manifest) {
  for (FileRecord& record : copied) {
    const auto before = std::find_if(manifest.files.begin(), manifest.files.end(),
                                     [&](const FileRecord& file) { return file.name == record.name; });
    if (before != manifest.files.end()) record.rank = before->rank;
  }
}

/// From a local directory with the checkpoint's files to the target, where it has been begun.
Result<Manifest> copy_from(const std::string& source, const std::string& local, const std::string& target,
                           Manifest manifest, const Manifest* as, ProgressMeter& meter) {
  const Result<std::vector<std::string>> names = names_to_copy(local, manifest);
  if (!names) return names.error();
  Result<std::vector<FileRecord>> copied = upload(local, target, *names, 0, Transfer::copy, meter.on_bytes());
  if (!copied) {
    // A file that is missing, or shorter than it was a moment ago, is damage; the message says
    // which.
    const Result<Verification> now = examine(source);
    if (now && !now->damaged.empty()) return damage_error(source, now->damaged.front());
    return copied.error();
  }
  if (const std::vector<Damage> damaged = compare(source, manifest, *copied); !damaged.empty())
    return damage_error(source, damaged.front());
  keep_ranks(*copied, manifest);
  if (as != nullptr) manifest = *as;
  manifest.files = std::move(*copied);
  manifest.checkpoint = name_of(target);
  if (Result<void> done = commit(target, manifest); !done) return done.error();
  meter.finish();
  return manifest;
}

/// A remote source's files come to this machine first: they are compared before any of them goes
/// on.
Result<Manifest> copy_begun(const std::string& source, const std::string& target, Manifest manifest, const Manifest* as,
                            const OnProgress& told) {
  std::uint64_t bytes = 0;
  for (const FileRecord& file : manifest.files) bytes += file.size;
  const bool staged = is_remote(source);
  ProgressMeter meter(manifest.files.size(), bytes, told, staged ? 2 : 1);
  if (!staged) {
    const Result<std::string> local = local_path(source);
    return local ? copy_from(source, *local, target, std::move(manifest), as, meter) : local.error();
  }
  const Result<std::string> base = downloads_directory();
  if (!base) return base.error();
  const Result<SharedDownload> shared = SharedDownload::get(
      *base, source, [&](const std::string& directory) { return fetch(source, directory, meter.on_bytes()); });
  if (!shared) return shared.error();
  return copy_from(source, shared->directory(), target, std::move(manifest), as, meter);
}

/// Files that a checkpoint's manifest does not know would look like its own. Errors:
/// `already_exists`.
Result<void> check_outside_of_checkpoints(const std::string& target) {
  std::string below = target;
  for (std::string above = parent_location(below); above != below; above = parent_location(above)) {
    const Result<Manifest> manifest = read_manifest(above);
    if (manifest || manifest.error().kind == ErrorKind::corrupted) {
      return Error{ErrorKind::already_exists, shown_location(target) + " would lie within the checkpoint " +
                                                  shown_location(above) + "; nothing is put into a checkpoint"};
    }
    if (is_remote(target)) break;  // Each look is a request.
    below = above;
  }
  return {};
}

}  // namespace

Result<Manifest> copy_checkpoint(const std::string& source, const std::string& target, const OnProgress& told,
                                 const Manifest* as) {
  Result<Manifest> manifest = read_manifest_or_offer(source);
  if (!manifest) return manifest;
  if (Result<void> outside = check_outside_of_checkpoints(target); !outside) return outside.error();
  if (!is_remote(target)) {
    const Result<std::string> path = local_path(target);
    if (!path) return path.error();
    if (Result<void> made = make_directories(parent_of(*path)); !made) return made.error();
  }
  if (Result<void> begun = begin_checkpoint(target); !begun) return begun.error();
  Result<Manifest> copied = copy_begun(source, target, std::move(*manifest), as, told);
  if (!copied) (void)discard_unfinished(target);
  return copied;
}

}  // namespace headway::storage
