#include "storage/checkpoint/verification.hpp"

#include "core/location.hpp"
#include "storage/disk/checksum.hpp"
#include "storage/disk/file.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/remote/remote_standing.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <ranges>

namespace headway::storage {

namespace {

using MaybeDamage = std::optional<Damage>;

std::string in_bytes(std::uint64_t size) { return std::to_string(size) + " bytes"; }

Damage absence(const std::string& path, const FileRecord& record, bool missing) {
  return {path, "a file of " + in_bytes(record.size), missing ? "no such file" : "no regular file"};
}

bool need_only_be_there(const FileRecord& record) { return record.checksum.empty() || record.name == metadata_name; }

MaybeDamage difference(const std::string& path, const FileRecord& record, std::uint64_t size,
                       const std::string& checksum) {
  if (need_only_be_there(record)) return {};
  if (size != record.size) return Damage{path, in_bytes(record.size), in_bytes(size)};
  if (checksum == record.checksum) return {};
  return Damage{path, "checksum " + record.checksum, "checksum " + checksum};
}

/// What is wrong with one file, if anything is.
Result<MaybeDamage> examine_local(const std::string& path, const FileRecord& record, const OnBytes& on_bytes) {
  const Result<File> file = open_regular_file(path, ErrorKind::not_found);
  if (!file) {
    if (file.error().kind == ErrorKind::unavailable) return file.error();
    return MaybeDamage(absence(path, record, file.error().kind == ErrorKind::not_found));
  }
  if (need_only_be_there(record)) return MaybeDamage();
  const Result<struct ::stat> status = file->status();
  if (!status) return status.error();
  const auto size = static_cast<std::uint64_t>(status->st_size);
  if (size != record.size) return difference(path, record, size, "");
  const Result<Content> found = read_content(*file, on_bytes);
  if (!found) return found.error();
  return difference(path, record, found->size, found->checksum);
}

Result<MaybeDamage> examine_remote(const Remote& checkpoint, const FileRecord& record, const OnBytes& on_bytes) {
  const std::string path = remote::below(checkpoint.path, record.name);
  const std::string shown = checkpoint.store.shown(path);
  const Result<Entry> entry = checkpoint.store.info(path);
  if (!entry && entry.error().kind != ErrorKind::not_found) return entry.error();
  if (!entry || entry->directory) return MaybeDamage(absence(shown, record, !entry));
  if (need_only_be_there(record)) return MaybeDamage();
  if (entry->size != record.size) return difference(shown, record, entry->size, "");
  const Result<Content> found = checkpoint.store.digest(path, on_bytes);
  if (!found) return found.error();
  return difference(shown, record, found->size, found->checksum);
}

/// A checkpoint's directory, opened where it is.
class Place {
 public:
  static Result<Place> open(const std::string& checkpoint) {
    Place place;
    if (is_remote(checkpoint)) {
      Result<Remote> remote = open_remote(checkpoint);
      if (!remote) return remote.error();
      place.remote_ = std::move(*remote);
      return place;
    }
    Result<std::string> path = local_path(checkpoint);
    if (!path) return path.error();
    place.path_ = std::move(*path);
    return place;
  }

  /// A file's path as people know it.
  std::string shown(std::string_view name) const {
    return remote_ ? remote_->store.shown(remote::below(remote_->path, name)) : join_location(path_, name);
  }

  Result<MaybeDamage> examine(const FileRecord& record, const OnBytes& on_bytes) const {
    return remote_ ? examine_remote(*remote_, record, on_bytes)
                   : examine_local(join_location(path_, record.name), record, on_bytes);
  }

 private:
  std::string path_;
  std::optional<Remote> remote_;
};

/// What the error about an unreadable manifest says, as damage of that file.
Damage manifest_damage(const std::string& path, std::string message) {
  if (message.starts_with(path)) message.erase(0, path.size());
  constexpr std::string_view begin = " is damaged: expected ";
  constexpr std::string_view between = ", found ";
  if (const std::size_t end = message.find(between); message.starts_with(begin) && end != std::string::npos)
    return {path, message.substr(begin.size(), end - begin.size()), message.substr(end + between.size())};
  message.erase(0, message.find_first_not_of(": "));
  return {path, "a whole manifest", (message.starts_with("is ") ? "one that " : "one with ") + message};
}

Result<void> examine_files(const Place& place, const std::vector<FileRecord>& files, Verification& verification,
                           const OnProgress& told) {
  ProgressMeter meter(files.size(), verification.bytes, told);
  std::vector<MaybeDamage> found(files.size());
  const Result<void> read = parallel_for(files.size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    std::uint64_t told_bytes = 0;
    const OnBytes on_bytes = meter.on_bytes();
    const auto count = [&](std::uint64_t bytes) {
      told_bytes += bytes;
      if (on_bytes) on_bytes(bytes);
    };
    Result<MaybeDamage> damage = place.examine(files[index], count);
    if (!damage) return damage.error();
    found[index] = std::move(*damage);
    meter.finish_file(files[index].size - std::min(told_bytes, files[index].size));
    return {};
  });
  if (!read) return read.error();
  for (MaybeDamage& damage : found) {
    if (damage) verification.damaged.push_back(std::move(*damage));
  }
  return {};
}

}  // namespace

std::string to_text(const Damage& damage) {
  return damage.file + " is damaged: expected " + damage.expected + ", found " + damage.found;
}

Result<Verification> examine(const std::string& checkpoint, const OnProgress& told) {
  Verification verification;
  verification.checkpoint = shown_location(checkpoint);
  const Result<Place> place = Place::open(checkpoint);
  if (!place) return place.error();
  const Result<Manifest> manifest = read_manifest(checkpoint);
  if (!manifest) {
    if (manifest.error().kind != ErrorKind::corrupted) return manifest.error();
    verification.damaged.push_back(manifest_damage(place->shown(manifest_name), manifest.error().message));
    return verification;
  }
  for (const FileRecord& file : manifest->files) {
    verification.bytes += file.size;
    if (file.checksum.empty()) ++verification.unchecked;
  }
  verification.files = manifest->files.size();
  if (Result<void> read = examine_files(*place, manifest->files, verification, told); !read) return read.error();
  return verification;
}

Result<void> verify(const std::string& checkpoint) {
  const Result<Verification> verification = examine(checkpoint);
  if (!verification) return verification.error();
  if (verification->damaged.empty()) return {};
  return Error{ErrorKind::corrupted, to_text(verification->damaged.front())};
}

std::vector<Damage> compare(const std::string& checkpoint, const Manifest& manifest,
                            const std::vector<FileRecord>& found) {
  std::vector<Damage> damaged;
  const Result<Place> place = Place::open(checkpoint);
  for (const FileRecord& record : manifest.files) {
    const std::string path = place ? place->shown(record.name) : record.name;
    const auto file =
        std::find_if(found.begin(), found.end(), [&](const FileRecord& each) { return each.name == record.name; });
    MaybeDamage damage =
        file == found.end() ? absence(path, record, true) : difference(path, record, file->size, file->checksum);
    if (damage) damaged.push_back(std::move(*damage));
  }
  return damaged;
}

Result<std::optional<Manifest>> newest_good(const std::string& run_directory) {
  std::vector<Error> unreadable;
  Result<std::vector<Manifest>> manifests = list_checkpoints(run_directory, &unreadable);
  if (!manifests) return manifests.error();
  for (Manifest& manifest : std::views::reverse(*manifests)) {
    const Result<Verification> verification = examine(join_location(run_directory, manifest.checkpoint));
    if (verification && verification->damaged.empty()) return std::optional(std::move(manifest));
  }
  return std::optional<Manifest>();
}

Result<Manifest> read_manifest_or_offer(const std::string& checkpoint) {
  Result<Manifest> manifest = read_manifest(checkpoint);
  if (manifest || manifest.error().kind != ErrorKind::corrupted) return manifest;
  const Result<Verification> now = examine(checkpoint);
  return now && !now->damaged.empty() ? damage_error(checkpoint, now->damaged.front()) : manifest.error();
}

Error damage_error(const std::string& checkpoint, const Damage& damage) {
  const std::string run_directory = parent_location(checkpoint);
  std::string message = to_text(damage);
  const Result<std::optional<Manifest>> good = newest_good(run_directory);
  if (good && *good) {
    message += "; the newest good checkpoint of this run is " +
               shown_location(join_location(run_directory, (*good)->checkpoint));
  } else if (good) {
    message += "; this run has no good checkpoint";
  }
  return Error{ErrorKind::corrupted, std::move(message)};
}

}  // namespace headway::storage
