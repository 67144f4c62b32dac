#include "core/location.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/local/local.hpp"
#include "storage/local/manifest_file.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace headway::storage {

namespace {

/// Walks a directory, following symbolic links, and knows which directories it stands in.
class FileWalk {
 public:
  /// Neither this directory nor one above it may be walked; a path that is not there says nothing.
  void keep_apart_from(const std::string& directory) {
    apart_from_ = directory;
    std::string above = directory;
    for (struct ::stat status = {}; ::stat(above.c_str(), &status) == 0; above += "/..") {
      const Identity identity{status.st_dev, status.st_ino};
      if (!apart_.empty() && apart_.back() == identity) break;  // The root is above itself.
      apart_.push_back(identity);
    }
  }

  Result<void> walk(const std::string& directory, const std::string& relative) {
    struct ::stat status = {};
    if (::stat(directory.c_str(), &status) != 0) return system_error("read", directory, errno);
    const Identity identity{status.st_dev, status.st_ino};
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) {
      return Error{ErrorKind::invalid_argument, directory + " is a symbolic link to a directory that contains it"};
    }
    if (std::find(apart_.begin(), apart_.end(), identity) != apart_.end()) {
      return Error{ErrorKind::invalid_argument, directory + " is a symbolic link to " + apart_from_ +
                                                    ", or to a directory above it, which no checkpoint may contain"};
    }
    const Result<std::vector<std::string>> names = read_directory(directory);
    if (!names) return names.error();
    open_.push_back(identity);
    for (const std::string& name : *names) {
      const std::string below = relative.empty() ? name : join(relative, name);
      if (relative.empty() && is_own_name(name)) continue;
      if (Result<void> visited = visit(join(directory, name), below); !visited) return visited;
    }
    open_.pop_back();
    return {};
  }

  std::vector<FileRecord> take() { return std::move(files_); }

 private:
  using Identity = std::pair<dev_t, ino_t>;

  Result<void> visit(const std::string& path, const std::string& relative) {
    struct ::stat status = {};
    if (::stat(path.c_str(), &status) != 0) {
      const bool bad_link = errno == ENOENT || errno == ELOOP;
      return system_error("read", path, errno, bad_link ? ErrorKind::invalid_argument : ErrorKind::unavailable);
    }
    if (S_ISDIR(status.st_mode)) return walk(path, relative);
    if (!S_ISREG(status.st_mode)) {
      return Error{ErrorKind::invalid_argument, path + " is not a regular file but " + file_kind(status.st_mode)};
    }
    if (Result<void> fits = check_file_name(relative); !fits) return fits;
    files_.push_back({relative, static_cast<std::uint64_t>(status.st_size), "", 0});
    return {};
  }

  std::vector<Identity> open_;
  std::vector<Identity> apart_;
  std::string apart_from_;
  std::vector<FileRecord> files_;
};

}  // namespace

Result<std::vector<FileRecord>> local::list_files(const std::string& directory, const std::string& apart_from) {
  struct ::stat status = {};
  if (::stat(directory.c_str(), &status) != 0)
    return system_error("list the files of", directory, errno, ErrorKind::invalid_argument);
  if (!S_ISDIR(status.st_mode)) {
    return Error{ErrorKind::invalid_argument, directory + " is not a directory but " + file_kind(status.st_mode)};
  }
  FileWalk files;
  if (!apart_from.empty() && !is_remote(apart_from)) files.keep_apart_from(apart_from);
  if (Result<void> walked = files.walk(directory, ""); !walked) return walked.error();
  std::vector<FileRecord> records = files.take();
  std::sort(records.begin(), records.end(), [](const FileRecord& a, const FileRecord& b) { return a.name < b.name; });
  return records;
}

Result<std::vector<Manifest>> local::list_checkpoints(const std::string& run_directory,
                                                      std::vector<Error>* unreadable) {
  const Result<std::vector<std::string>> names = read_directory(run_directory);
  if (!names) return names.error();
  std::vector<Manifest> manifests;
  for (const std::string& name : *names) {
    if (name.starts_with(part_prefix)) continue;
    const std::string path = join(run_directory, name);
    const Result<Standing> standing = standing_of(path);
    if (!standing) return standing.error();
    if (*standing != Standing::committed) continue;
    Result<Manifest> manifest = read_manifest(path);
    if (manifest) {
      manifest->checkpoint = name;
      manifests.push_back(std::move(*manifest));
    } else if (manifest.error().kind == ErrorKind::not_found) {
      continue;  // Removed a moment ago, by a run that goes on.
    } else if (unreadable != nullptr) {
      unreadable->push_back(manifest.error());
    } else {
      return manifest.error();
    }
  }
  std::sort(manifests.begin(), manifests.end(), is_older);
  return manifests;
}

}  // namespace headway::storage
