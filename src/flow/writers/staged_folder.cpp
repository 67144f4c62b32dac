#include "flow/writers/staged_folder.hpp"

#include "core/location.hpp"
#include "storage/remote/remote.hpp"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <set>
#include <sys/file.h>
#include <unistd.h>

namespace headway::flow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view staging_prefix = ".headway-write-";
constexpr std::size_t sending_bytes_max = std::size_t{64} << 20;

std::string random_id() {
  std::random_device device;
  const std::uint64_t bits = std::uint64_t{device()} << 32U | device();
  std::string text;
  for (unsigned shift = 0; shift < 48; shift += 4) text += "0123456789abcdef"[bits >> shift & 15U];
  return text;
}

arrow::Status failed(const char* doing, const fs::path& path, const std::error_code& why) {
  return arrow::Status::IOError("cannot ", doing, " ", path.string(), ": ", why.message());
}

arrow::Status make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  return failure ? failed("make the folder", folder, failure) : arrow::Status::OK();
}

arrow::Status move_to(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::rename(from, to, failure);
  return failure ? failed("make", to, failure) : arrow::Status::OK();
}

/// Renames are on the disk when their folder is.
arrow::Status sync_folder(const fs::path& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return arrow::Status::OK();
  const bool synced = ::fsync(handle) == 0;
  ::close(handle);
  return synced ? arrow::Status::OK() : arrow::Status::IOError("cannot sync ", folder.string());
}

bool has_files(const fs::path& folder) {
  std::error_code failure;
  for (auto each = fs::directory_iterator(folder, failure); !failure && each != fs::directory_iterator();
       each.increment(failure)) {
    if (!each->path().filename().string().starts_with('.')) return true;
  }
  return false;
}

/// Held by the process that writes; freed by its end, whatever ends it.
class StagingLock {
 public:
  explicit StagingLock(const fs::path& folder)
      : handle_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    held_ = handle_ >= 0 && ::flock(handle_, LOCK_EX | LOCK_NB) == 0;
  }
  ~StagingLock() {
    if (handle_ >= 0) ::close(handle_);
  }
  StagingLock(const StagingLock&) = delete;
  StagingLock& operator=(const StagingLock&) = delete;
  bool held() const { return held_; }

 private:
  int handle_;
  bool held_ = false;
};

/// Staging folders whose process has ended.
void remove_abandoned(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> abandoned;
  for (auto each = fs::directory_iterator(folder, failure); !failure && each != fs::directory_iterator();
       each.increment(failure)) {
    if (!each->path().filename().string().starts_with(staging_prefix)) continue;
    const StagingLock lock(each->path());
    if (lock.held()) abandoned.push_back(each->path());
  }
  for (const fs::path& path : abandoned) fs::remove_all(path, failure);
}

arrow::Status already_exists(const std::string& location) {
  return arrow::Status::AlreadyExists("cannot write to ", shown_location(location), ": there are files");
}

arrow::Status name_is_taken(const std::string& location) {
  return arrow::Status::AlreadyExists("there is a file ", shown_location(location),
                                      " already; a write that adds to a folder needs new names");
}

class LocalFolder : public StagedFolder {
 public:
  LocalFolder(std::string id, const fs::path& staging, fs::path place, bool replaces, bool made_place)
      : StagedFolder(std::move(id), staging.string()),
        lock_(staging),
        place_(std::move(place)),
        replaces_(replaces),
        made_place_(made_place) {}

  ~LocalFolder() override {
    if (!made_place_ || committed_) return;
    std::error_code failure;
    fs::remove_all(staging(), failure);
    fs::remove(place_, failure);  // Stays where another write has put something.
  }
  LocalFolder(const LocalFolder&) = delete;
  LocalFolder& operator=(const LocalFolder&) = delete;

  static arrow::Result<std::unique_ptr<StagedFolder>> open(const fs::path& place, data::WriteMode mode) {
    const bool replaces = mode == data::WriteMode::overwrite;
    // Beside the place, as a rename does not cross file systems.
    const fs::path parent = replaces ? place.parent_path() : place;
    std::string id = random_id();
    const fs::path staging = parent / (std::string(staging_prefix) + id);
    remove_abandoned(parent);
    std::error_code failure;
    const bool makes_place = !replaces && !fs::exists(place, failure);
    ARROW_RETURN_NOT_OK(make_folder(staging));
    return std::make_unique<LocalFolder>(std::move(id), staging, place, replaces, makes_place);
  }

  arrow::Status check_free(const std::string& name) const override {
    std::error_code failure;
    const fs::path file = place_ / name;
    return !replaces_ && fs::exists(file, failure) ? name_is_taken(file.string()) : arrow::Status::OK();
  }

  arrow::Result<std::vector<std::string>> commit() override {
    std::vector<std::string> files;
    if (replaces_) ARROW_RETURN_NOT_OK(replace_place());
    for (const std::string& name : names()) {
      const fs::path file = place_ / name;
      if (!replaces_) {
        ARROW_RETURN_NOT_OK(make_folder(file.parent_path()));
        ARROW_RETURN_NOT_OK(move_to(fs::path(staging()) / name, file));
      }
      files.push_back(file.string());
    }
    ARROW_RETURN_NOT_OK(sync_folder(place_));
    committed_ = true;
    return files;
  }

 private:
  arrow::Status replace_place() {
    const fs::path old = place_.parent_path() / (std::string(staging_prefix) + id() + "-old");
    std::error_code failure;
    for (const char* name : {".lock", ".trial"}) fs::remove(fs::path(staging()) / name, failure);
    if (!fs::exists(place_, failure)) {
      ARROW_RETURN_NOT_OK(move_to(staging(), place_));
    } else if (::renameat2(AT_FDCWD, staging().c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0) {
      // Not every file system can exchange two folders.
      ARROW_RETURN_NOT_OK(move_to(place_, old));
      ARROW_RETURN_NOT_OK(move_to(staging(), place_));
      fs::remove_all(old, failure);
    }
    return sync_folder(place_.parent_path());
  }

  StagingLock lock_;
  fs::path place_;
  bool replaces_;
  bool made_place_;  ///< There was none before.
  bool committed_ = false;
};

/// Files of object stores come into being whole, one by one.
class RemoteFolder : public StagedFolder {
 public:
  RemoteFolder(std::string id, const fs::path& staging, std::string location, storage::Remote remote,
               const std::vector<std::string>& old, bool replaces)
      : StagedFolder(std::move(id), staging.string()),
        location_(std::move(location)),
        remote_(std::move(remote)),
        old_(old.begin(), old.end()),
        replaces_(replaces) {}

  static arrow::Result<std::unique_ptr<StagedFolder>> open(const std::string& location, const storage::Remote& remote,
                                                           const std::vector<std::string>& old, bool replaces) {
    std::string id = random_id();
    const fs::path staging = fs::temp_directory_path() / ("headway-write-" + id);
    ARROW_RETURN_NOT_OK(make_folder(staging));
    return std::make_unique<RemoteFolder>(std::move(id), staging, location, remote, old, replaces);
  }

  arrow::Status check_free(const std::string& name) const override {
    return !replaces_ && old_.contains(remote_.path + "/" + name) ? name_is_taken(join_location(location_, name))
                                                                  : arrow::Status::OK();
  }

  arrow::Result<std::vector<std::string>> commit() override {
    std::vector<std::string> files;
    for (const std::string& name : names()) {
      if (const auto sent = send(name); !sent) return take_back(sent.error());
      files.push_back(join_location(location_, name));
    }
    if (!replaces_) return files;
    for (const std::string& path : old_) {
      if (const auto removed = remote_.store.remove_file(path); !removed) return failure(removed.error());
    }
    return files;
  }

 private:
  Result<void> send(const std::string& name) {
    const std::string path = remote_.path + "/" + name;
    const std::string folder = path.substr(0, path.rfind('/'));
    if (folders_.insert(folder).second) {
      if (auto made = remote_.store.make_directory(folder); !made) return made;
    }
    if (auto sent = remote_.store.put((fs::path(staging()) / name).string(), path, sending_bytes_max); !sent) {
      return sent.error();
    }
    if (old_.erase(path) == 0) sent_.push_back(name);
    return {};
  }

  /// Nobody is to read a part of a write, nor its rows twice when it is tried again.
  arrow::Status take_back(const Error& error) const {
    for (const std::string& name : sent_) {
      if (const auto removed = remote_.store.remove_file(remote_.path + "/" + name); !removed) {
        return arrow::Status::IOError(error.message, "; files of this write stay there, such as ",
                                      shown_location(join_location(location_, name)),
                                      ", which cannot be removed: ", removed.error().message);
      }
    }
    return failure(error);
  }

  static arrow::Status failure(const Error& error) { return arrow::Status::IOError(error.message); }

  std::string location_;
  storage::Remote remote_;
  std::set<std::string> old_;      ///< What is there and was not replaced by one of the same name.
  std::set<std::string> folders_;  ///< That were made.
  std::vector<std::string> sent_;  ///< Names of files that were not there before.
  bool replaces_;
};

arrow::Result<std::vector<std::string>> remote_files(const storage::Remote& remote) {
  const auto entries = remote.store.list(remote.path, true);
  if (!entries) return arrow::Status::IOError(entries.error().message);
  std::vector<std::string> paths;
  for (const storage::Entry& entry : *entries) {
    if (!entry.directory) paths.push_back(remote.path + "/" + entry.name);
  }
  return paths;
}

}  // namespace

StagedFolder::~StagedFolder() {
  std::error_code failure;
  fs::remove_all(staging_, failure);
}

arrow::Result<std::string> StagedFolder::add(const std::string& name) {
  const fs::path path = fs::path(staging_) / name;
  ARROW_RETURN_NOT_OK(make_folder(path.parent_path()));
  names_.push_back(name);
  return path.string();
}

arrow::Result<std::string> StagedFolder::trial() const { return (fs::path(staging_) / ".trial").string(); }

arrow::Result<std::unique_ptr<StagedFolder>> StagedFolder::open(const std::string& location, data::WriteMode mode) {
  const bool refuses = mode == data::WriteMode::create || mode == data::WriteMode::error;
  bool occupied = false;
  std::vector<std::string> old;
  if (is_remote(location)) {
    const Result<storage::Remote> remote = storage::open_remote(location);
    if (!remote) return arrow::Status::Invalid(remote.error().message);
    ARROW_ASSIGN_OR_RAISE(old, remote_files(*remote));
    occupied = !old.empty();
    if (occupied && refuses) return already_exists(location);
    if (occupied && mode == data::WriteMode::ignore) return nullptr;
    return RemoteFolder::open(location, *remote, old, mode == data::WriteMode::overwrite);
  }
  const Result<std::string> path = local_path(location);
  if (!path) return arrow::Status::Invalid(path.error().message);
  fs::path place = fs::path(*path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  std::error_code failure;
  if (fs::exists(place, failure) && !fs::is_directory(place, failure)) {
    return arrow::Status::AlreadyExists("cannot write to ", place.string(), ": it is a file, and a folder is needed");
  }
  occupied = has_files(place);
  if (occupied && refuses) return already_exists(location);
  if (occupied && mode == data::WriteMode::ignore) return nullptr;
  return LocalFolder::open(place, mode);
}

}  // namespace headway::flow
