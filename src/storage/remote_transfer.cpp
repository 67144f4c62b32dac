#include "core/fault_point.hpp"
#include "storage/directory.hpp"
#include "storage/manifest_file.hpp"
#include "storage/parallel.hpp"
#include "storage/remote_standing.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace headway::storage::remote {

namespace {

/// The directories that hold the named files, below a directory; not the directory itself.
std::set<std::string> directories_of(const std::vector<std::string>& names) {
  std::set<std::string> directories;
  for (const std::string& name : names) {
    if (const std::size_t slash = name.rfind('/'); slash != std::string::npos)
      directories.insert(name.substr(0, slash));
  }
  return directories;
}

Result<void> compare(const Remote& checkpoint, const FileRecord& expected) {
  const std::string path = below(checkpoint.path, expected.name);
  const std::string shown = checkpoint.store.shown(path);
  if (expected.checksum.empty() || expected.name == metadata_name) {
    // The user's own, listed as they were found: he may have gone on writing. So with the metadata.
    const Result<bool> there = is_file(checkpoint.store, path);
    if (!there) return there.error();
    return *there ? Result<void>() : Error{ErrorKind::corrupted, shown + " is missing"};
  }
  const Result<Content> found = checkpoint.store.digest(path);
  if (!found) {
    if (found.error().kind != ErrorKind::not_found) return found.error();
    return Error{ErrorKind::corrupted,
                 shown + " is missing, expected a file of " + std::to_string(expected.size) + " bytes"};
  }
  if (found->size != expected.size) {
    return Error{ErrorKind::corrupted, shown + " is damaged: expected " + std::to_string(expected.size) +
                                           " bytes, found " + std::to_string(found->size)};
  }
  if (found->checksum != expected.checksum) {
    return Error{ErrorKind::corrupted,
                 shown + " is damaged: expected checksum " + expected.checksum + ", found " + found->checksum};
  }
  return {};
}

}  // namespace

Result<std::vector<FileRecord>> list_files(const Remote& directory) {
  const Result<std::vector<Entry>> entries = directory.store.list(directory.path, true);
  if (!entries) return entries.error();
  if (entries->empty()) {
    const Result<Entry> there = directory.store.info(directory.path);
    if (!there) {
      const bool missing = there.error().kind == ErrorKind::not_found;
      return Error{missing ? ErrorKind::invalid_argument : there.error().kind, there.error().message};
    }
    if (!there->directory) {
      return Error{ErrorKind::invalid_argument,
                   directory.store.shown(directory.path) + " is not a directory but a file"};
    }
  }
  std::vector<FileRecord> files;
  for (const Entry& entry : *entries) {
    if (entry.directory || is_own_name(entry.name.substr(0, entry.name.find('/')))) continue;
    if (Result<void> fits = check_file_name(entry.name); !fits) return fits.error();
    files.push_back({entry.name, entry.size, "", 0});
  }
  return files;
}

Result<std::vector<FileRecord>> upload(const std::string& source_directory, const Remote& checkpoint,
                                       const std::vector<std::string>& names, int rank) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (Result<void> fits = check_file_name(name); !fits) return fits.error();
    if (!seen.insert(name).second)
      return Error{ErrorKind::invalid_argument, "the file " + name + " is named twice in one upload"};
  }
  const Result<bool> begun = is_file(checkpoint.store, marker_of(checkpoint.path));
  if (!begun) return begun.error();
  if (!*begun) {
    return Error{ErrorKind::not_found, "checkpoint " + checkpoint.store.shown(checkpoint.path) + " has not been begun"};
  }
  for (const std::string& directory : directories_of(names)) {
    const Result<void> made = checkpoint.store.make_directory(below(checkpoint.path, directory));
    if (!made) return made.error();
  }
  fault_point("remote.upload.directories_made");
  const std::size_t at_once = std::clamp<std::size_t>(names.size(), 1, uploads_max);
  std::vector<FileRecord> records(names.size());
  const Result<void> sent = parallel_for(names.size(), at_once, [&](std::size_t index) -> Result<void> {
    const Result<Content> content = checkpoint.store.put(
        join(source_directory, names[index]), below(checkpoint.path, names[index]), upload_memory_bytes / at_once);
    if (!content) return content.error();
    records[index] = {names[index], content->size, content->checksum, rank};
    fault_point("remote.upload.one_sent");
    return {};
  });
  if (!sent) return sent.error();
  return records;
}

Result<void> verify(const Remote& checkpoint) {
  const Result<Manifest> manifest = read_manifest(checkpoint);
  if (!manifest) return manifest.error();
  return parallel_for(manifest->files.size(), storage_threads_max,
                      [&](std::size_t index) { return compare(checkpoint, manifest->files[index]); });
}

Result<void> download(const Remote& directory, const std::string& target_directory) {
  const Result<std::vector<FileRecord>> files = list_files(directory);
  if (!files) {
    const bool missing = files.error().kind == ErrorKind::invalid_argument;
    return Error{missing ? ErrorKind::not_found : files.error().kind, files.error().message};
  }
  std::vector<std::string> names;
  for (const FileRecord& file : *files) names.push_back(file.name);
  if (Result<void> made = make_directories(target_directory); !made) return made;
  for (const std::string& below : directories_of(names)) {
    if (Result<void> made = make_directories(join(target_directory, below)); !made) return made;
  }
  return parallel_for(files->size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    const FileRecord& file = (*files)[index];
    const std::string part = join(target_directory, std::string(part_prefix) + "download." + std::to_string(index));
    Result<void> got = directory.store.get(below(directory.path, file.name), file.size, part);
    if (got) got = rename_path(part, join(target_directory, file.name), true);
    if (!got) ::unlink(part.c_str());
    return got;
  });
}

}  // namespace headway::storage::remote
