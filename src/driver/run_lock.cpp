#include "driver/run_lock.hpp"

#include "core/fault_point.hpp"
#include "driver/unix_time.hpp"
#include "storage/disk/directory.hpp"
#include "wire/fork_guard.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <span>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::driver {
namespace {

constexpr std::string_view file_name = ".headway.owner";
constexpr auto guards_end_max = std::chrono::seconds(10);

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Whether the path still leads to the file that is open.
bool is_same_file(int descriptor, const std::string& path) {
  struct ::stat open = {};
  struct ::stat found = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &found) == 0 && open.st_dev == found.st_dev &&
         open.st_ino == found.st_ino;
}

/// Nobody, when the file is new or its writer died while it wrote.
std::optional<Owner> read_owner(const storage::File& file) {
  std::array<std::byte, 4096> buffer{};
  const Result<std::size_t> size = file.read_at(buffer, 0);
  if (!size || *size == 0) return std::nullopt;
  Result<Owner> owner = from_json_text<Owner>({reinterpret_cast<const char*>(buffer.data()), *size}, file.path());
  if (!owner) return std::nullopt;
  return std::move(*owner);
}

Error owned_by(const std::string& run_directory, const std::optional<Owner>& owner, const Owner& self) {
  const std::string which = "the run in " + run_directory;
  if (owner && owner->host == self.host && owner->driver.pid == self.driver.pid) {
    return {ErrorKind::already_exists, which +
                                           " is under way in this process already; wait for its end, or choose another "
                                           "RunConfig.name"};
  }
  return {ErrorKind::already_exists, which +
                                         " has a driver already: " + (owner ? to_text(*owner) : "it has not said who") +
                                         ". Wait for its end or end it; another RunConfig.name starts a new run"};
}

/// The error number; 0 when it is ours now.
int lock(const storage::File& file) { return ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

/// A driver that is being killed holds its lock for some milliseconds more: whether it ends within
/// a moment.
bool is_dying(const storage::File& file, const Owner& self) {
  constexpr auto dying_max = std::chrono::milliseconds(200);
  const std::optional<Owner> owner = read_owner(file);
  return owner && owner->host == self.host && owner->driver.pid != self.driver.pid &&
         node::wait_for_end(owner->driver, dying_max);
}

/// What a driver that was killed had started writes to the run's folder until its guards have ended
/// it.
Result<void> wait_for_leftovers(const std::string& run_directory, const Owner& former, const Owner& self) {
  if (former.host != self.host || node::is_alive(former.driver)) return {};
  const auto deadline = std::chrono::steady_clock::now() + guards_end_max;
  for (const node::ProcessIdentity& guard : former.guards) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (node::wait_for_end(guard, left)) continue;
    return Error{ErrorKind::unavailable, "the driver that had the run in " + run_directory + " is gone (" +
                                             to_text(former) + "), but processes that it left are not: end them, and " +
                                             "their guard with pid " + std::to_string(guard.pid)};
  }
  return {};
}

}  // namespace

Owner this_owner(const std::vector<pid_t>& guards) {
  Owner owner{host_name(), node::identity_of(::getpid()), {}, 0};
  for (const pid_t guard : guards) owner.guards.push_back(node::identity_of(guard));
  owner.since_unix_s = unix_seconds();
  return owner;
}

std::string to_text(const Owner& owner) {
  const auto seconds = static_cast<std::time_t>(owner.since_unix_s);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S", &local);
  return "pid " + std::to_string(owner.driver.pid) + " on " + owner.host + " since " + date.data();
}

RunLock::~RunLock() {
  if (file_.is_open()) wire::keep_in_children(file_.descriptor());
}

Result<RunLock> RunLock::take(const std::string& run_directory, Owner owner) {
  const std::string path = storage::join(run_directory, file_name);
  Result<storage::File> file = storage::open_file(path, O_RDWR | O_CREAT);
  if (!file) return file.error();
  std::optional<std::string> unlocked_reason;
  int failure = lock(*file);
  if (failure == EWOULDBLOCK && is_dying(*file, owner)) failure = lock(*file);
  if (failure == EWOULDBLOCK) return owned_by(run_directory, read_owner(*file), owner);
  if (failure != 0) unlocked_reason = std::strerror(failure);
  wire::drop_in_children(file->descriptor());
  RunLock taken(std::move(*file));
  taken.unlocked_reason_ = std::move(unlocked_reason);
  fault_point("lease.taken");
  if (!taken.in_place()) {
    return Error{ErrorKind::unavailable, "the run's folder " + run_directory + " was removed while it was opened"};
  }
  if (const std::optional<Owner> former = read_owner(taken.file_)) {
    if (Result<void> gone = wait_for_leftovers(run_directory, *former, owner); !gone) return gone.error();
  }
  const std::string text = to_json_text(owner) + "\n";
  if (::ftruncate(taken.file_.descriptor(), 0) != 0) return storage::system_error("write", path, errno);
  if (Result<void> written = taken.file_.write_at(std::as_bytes(std::span(text)), 0, text.size()); !written)
    return written.error();
  fault_point("lease.written");
  return taken;
}

bool RunLock::in_place() const { return is_same_file(file_.descriptor(), file_.path()); }

}  // namespace headway::driver
