#include "storage/disk/directory.hpp"

#include "core/may_block.hpp"
#include "storage/disk/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace headway::storage {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// Opens `name` below `parent` without following a symbolic link.
Directory open_directory_at(int parent, const char* name, bool follow) {
  const int descriptor = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  if (descriptor < 0) return nullptr;
  Directory directory(::fdopendir(descriptor));
  if (directory == nullptr) ::close(descriptor);
  return directory;
}

Result<std::vector<std::string>> names_in(DIR* directory, const std::string& path) {
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const struct ::dirent* entry = ::readdir(directory);
    if (entry == nullptr) {
      if (errno != 0) return system_error("read the directory", path, errno);
      return names;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

/// `name` below `parent` and all below it; works on descriptors, so that nobody can put a link in
/// the way.
Result<void> remove_at(int parent, const char* name, const std::string& path) {
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR) return system_error("remove", path, errno);
  {
    const Directory directory = open_directory_at(parent, name, false);
    if (directory == nullptr) return errno == ENOENT ? Result<void>() : system_error("remove", path, errno);
    const Result<std::vector<std::string>> names = names_in(directory.get(), path);
    if (!names) return names.error();
    for (const std::string& below : *names) {
      Result<void> removed = remove_at(::dirfd(directory.get()), below.c_str(), join(path, below));
      if (!removed) return removed;
    }
  }
  if (::unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) return system_error("remove", path, errno);
  return {};
}

}  // namespace

std::string join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (path.empty() || path.back() != '/') path += '/';
  return path.append(name);
}

std::string last_part(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string parent_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

Result<void> make_directory(const std::string& path) {
  may_block("a directory is made");
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  const int number = errno;
  struct ::stat status = {};
  if (number == EEXIST && ::stat(path.c_str(), &status) == 0) {
    return S_ISDIR(status.st_mode) ? Result<void>() : system_error("make the directory", path, ENOTDIR);
  }
  return system_error("make the directory", path, number,
                      number == ENOENT ? ErrorKind::not_found : ErrorKind::unavailable);
}

Result<void> make_directories(const std::string& path) {
  struct ::stat status = {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
  Result<void> made = make_directory(path);
  const std::string parent = parent_of(path);
  if (!made && made.error().kind == ErrorKind::not_found && parent != path) {
    if (Result<void> above = make_directories(parent); !above) return above;
    made = make_directory(path);
  }
  return made ? sync_directory(parent) : made;
}

Result<void> sync_directory(const std::string& path) {
  const Result<File> directory = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!directory) return directory.error();
  if (::fsync(directory->descriptor()) == 0) return {};
  // Some network file systems have no fsync of directories; they write entries through.
  if (errno == EINVAL || errno == ENOTSUP || errno == EBADF) return {};
  return system_error("fsync the directory", path, errno);
}

Result<std::vector<std::string>> read_directory(const std::string& path) {
  may_block("a directory is read");
  const Directory directory = open_directory_at(AT_FDCWD, path.c_str(), true);
  if (directory == nullptr) {
    return system_error("read the directory", path, errno,
                        errno == ENOENT ? ErrorKind::not_found : ErrorKind::unavailable);
  }
  Result<std::vector<std::string>> names = names_in(directory.get(), path);
  if (names) std::sort(names->begin(), names->end());
  return names;
}

Result<bool> exists(const std::string& path) {
  struct ::stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_error("stat", path, errno);
}

Result<bool> is_real_directory(const std::string& path) {
  struct ::stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_error("stat", path, errno);
}

Result<void> remove_tree(const std::string& path) {
  may_block("files are removed");
  return remove_at(AT_FDCWD, path.c_str(), path);
}

Result<void> rename_path(const std::string& from, const std::string& to, bool replace) {
  may_block("a file is renamed");
  if (!replace) {
    if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno == EEXIST) return Error{ErrorKind::already_exists, to + " is there already"};
    // NFS and others have no RENAME_NOREPLACE: look first, then rename; the owner of a run is alone
    // in it.
    if (errno != EINVAL && errno != ENOSYS) return system_error("rename " + from + " to", to, errno);
    const Result<bool> there = exists(to);
    if (!there) return there.error();
    if (*there) return Error{ErrorKind::already_exists, to + " is there already"};
  }
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return system_error("rename " + from + " to", to, errno);
}

}  // namespace headway::storage
