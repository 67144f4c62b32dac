#include "storage/disk/lock_file.hpp"

#include "core/may_block.hpp"
#include "storage/disk/file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

namespace headway::storage {

namespace {

/// Descriptors with locks. A forked child closes its copies: a data loader's process that outlives
/// a killed rank would hold the rank's lock else. A child may only touch what needs no lock and no
/// allocation. More at a time than this: they are kept there.
std::array<std::atomic<int>, 256> in_use{};

void close_in_child() {
  for (std::atomic<int>& entry : in_use) {
    const int taken = entry.exchange(0, std::memory_order_relaxed);
    if (taken > 0) ::close(taken - 1);
  }
}

/// Entries are descriptor + 1; 0 is free.
void enter(int descriptor) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, close_in_child); });
  for (std::atomic<int>& entry : in_use) {
    int expected = 0;
    if (entry.compare_exchange_strong(expected, descriptor + 1)) return;
  }
}

void leave(int descriptor) {
  for (std::atomic<int>& entry : in_use) {
    int expected = descriptor + 1;
    if (entry.compare_exchange_strong(expected, 0)) return;
  }
}

}  // namespace

LockFile::LockFile(int descriptor, std::string path)
    : descriptor_(descriptor), owner_(::getpid()), path_(std::move(path)) {
  enter(descriptor_);
}

LockFile::LockFile(LockFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), owner_(other.owner_), path_(std::move(other.path_)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    owner_ = other.owner_;
    path_ = std::move(other.path_);
  }
  return *this;
}

LockFile::~LockFile() { close(); }

void LockFile::close() {
  if (own() >= 0) {
    leave(descriptor_);
    ::close(descriptor_);
  }
  descriptor_ = -1;
}

int LockFile::own() const { return descriptor_ >= 0 && owner_ == ::getpid() ? descriptor_ : -1; }

Result<LockFile> LockFile::open(const std::string& path) {
  may_block("a lock is opened");
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor >= 0) return LockFile(descriptor, path);
    if (errno != EINTR) return system_error("open", path, errno);
  }
}

Result<bool> LockFile::try_exclusive() {
  while (::flock(own(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return system_error("lock", path_, errno);
  }
  return true;
}

Result<void> LockFile::wait_exclusive(const Interrupted& interrupted) {
  while (::flock(own(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error("lock", path_, errno);
    if (interrupted && interrupted()) return Error{ErrorKind::aborted, "the wait for " + path_ + " was interrupted"};
  }
  return {};
}

Result<void> LockFile::share() {
  while (::flock(own(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EINTR) return system_error("lock", path_, errno);
  }
  return {};
}

bool LockFile::is_current() const {
  struct ::stat mine = {};
  struct ::stat there = {};
  return ::fstat(own(), &mine) == 0 && ::stat(path_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

void LockFile::remove() {
  if (own() >= 0) ::unlink(path_.c_str());
}

}  // namespace headway::storage
