#include "node/scratch_directories.hpp"

#include "core/lock_name.hpp"
#include "wire/fork_guard.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::node {

ScratchDirectories::ScratchDirectories(const StagingPlace& place) : place_(place) {
  static std::atomic<int> agents{0};  // Of this process.
  if (place.path[0] != '/') return;
  root_ = std::string(place.path) + "/" + scratch_directories_name + "/" + std::to_string(getpid()) + "-" +
          std::to_string(++agents);
}

ScratchDirectories::~ScratchDirectories() {
  if (lock_ < 0) return;
  wire::keep_in_children(lock_);
  close(lock_);
}

std::string ScratchDirectories::path(const std::string& attempt) const {
  constexpr std::size_t socket_name_max = 107;
  constexpr std::string_view longest_below = "/pymp-xxxxxxxx/listener-xxxxxxxx";
  if (root_.empty() || attempt.empty()) return "";
  std::string whole = root_ + "/" + attempt;
  return whole.size() + longest_below.size() <= socket_name_max ? whole : "";
}

void ScratchDirectories::prepare() {
  if (root_.empty() || lock_ >= 0) return;
  // Another driver's end may remove the directories above, or the file before it is locked.
  for (int attempt = 0; attempt < 10; ++attempt) {
    mkdir(place_.path, 0700);
    mkdir((std::string(place_.path) + "/" + scratch_directories_name).c_str(), 0700);
    const std::string lock_path = root_ + std::string(lock_suffix);
    const int file = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) continue;
    struct stat mine{};
    struct stat there{};
    const bool ours = flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &mine) == 0 &&
                      stat(lock_path.c_str(), &there) == 0 && mine.st_ino == there.st_ino;
    if (ours && (mkdir(root_.c_str(), 0700) == 0 || access(root_.c_str(), W_OK) == 0)) {
      lock_ = file;
      wire::drop_in_children(lock_);
      return;
    }
    close(file);
  }
}

void ScratchDirectories::remove(const std::string& attempt) const {
  if (lock_ >= 0) remove_with_content((root_ + "/" + attempt).c_str());
}

void ScratchDirectories::leave() {
  if (lock_ < 0) return;
  remove_with_content(root_.c_str());
  unlink((root_ + std::string(lock_suffix)).c_str());
  wire::keep_in_children(lock_);
  close(lock_.exchange(-1));
  rmdir((std::string(place_.path) + "/" + scratch_directories_name).c_str());
  if (!place_.is_chosen) rmdir(place_.path);
}

}  // namespace headway::node
