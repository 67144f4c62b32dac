#include "core/fault_point.hpp"
#include "core/manifest.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/remote/remote_standing.hpp"

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
                                       const std::vector<std::string>& names, int rank, const OnBytes& on_bytes,
                                       Target target) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (Result<void> fits = check_file_name(name); !fits) return fits.error();
    if (Result<void> fits = check_remote_name(name, checkpoint_file); !fits) return fits.error();
    if (!seen.insert(name).second)
      return Error{ErrorKind::invalid_argument, "the file " + name + " is named twice in one upload"};
  }
  if (target == Target::placed) {
    if (Result<void> made = checkpoint.store.make_directory(checkpoint.path); !made) return made.error();
  } else if (const Result<bool> begun = is_file(checkpoint.store, marker_of(checkpoint.path)); !begun) {
    return begun.error();
  } else if (!*begun) {
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
    const Result<Content> content =
        checkpoint.store.put(join(source_directory, names[index]), below(checkpoint.path, names[index]),
                             upload_memory_bytes / at_once, on_bytes);
    if (!content) return content.error();
    records[index] = {names[index], content->size, content->checksum, rank};
    fault_point("remote.upload.one_sent");
    return {};
  });
  if (!sent) return sent.error();
  return records;
}

Result<std::vector<FileRecord>> download(const Remote& directory, const std::string& target_directory,
                                         const OnBytes& on_bytes) {
  Result<std::vector<FileRecord>> files = list_files(directory);
  if (!files) {
    const bool missing = files.error().kind == ErrorKind::invalid_argument;
    return Error{missing ? ErrorKind::not_found : files.error().kind, files.error().message};
  }
  std::vector<std::string> names;
  for (const FileRecord& file : *files) names.push_back(file.name);
  if (Result<void> made = make_directories(target_directory); !made) return made.error();
  for (const std::string& below : directories_of(names)) {
    if (Result<void> made = make_directories(join(target_directory, below)); !made) return made.error();
  }
  const Result<void> read = parallel_for(files->size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    FileRecord& file = (*files)[index];
    const std::string part = join(target_directory, std::string(part_prefix) + "download." + std::to_string(index));
    const Result<Content> got = directory.store.get(below(directory.path, file.name), file.size, part, on_bytes);
    Result<void> named = got ? rename_path(part, join(target_directory, file.name), true) : got.error();
    if (!named) ::unlink(part.c_str());
    if (got) file.checksum = got->checksum;
    return named;
  });
  if (!read) return read.error();
  return files;
}

}  // namespace headway::storage::remote
