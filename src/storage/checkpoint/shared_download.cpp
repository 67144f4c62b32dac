#include "storage/checkpoint/shared_download.hpp"

#include "core/fault_point.hpp"
#include "storage/disk/checksum.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <span>

namespace headway::storage {

namespace {

constexpr std::string_view gate_suffix = ".gate";
constexpr std::string_view use_suffix = ".use";
constexpr std::string_view downloads_name = "downloads";

/// The location's last part, for people who look, and its checksum, which tells locations apart.
std::string entry_name(const std::string& location) {
  constexpr std::size_t shown_max = 80;
  std::string shown = last_part(location.substr(0, location.find('?'))).substr(0, shown_max);
  std::replace_if(
      shown.begin(), shown.end(),
      [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '-' && letter != '_'; }, '_');
  Checksum checksum;
  checksum.add(std::as_bytes(std::span(location)));
  std::string digits = checksum.text();
  return shown + "-" + digits.substr(digits.find(':') + 1);
}

/// The gate's lock for the file that has the gate's name now: its last user may have removed the
/// one that we waited for.
Result<LockFile> pass_gate(const std::string& directory, const Interrupted& interrupted) {
  for (;;) {
    Result<LockFile> gate = LockFile::open(directory + std::string(gate_suffix));
    if (!gate) return gate;
    if (Result<void> locked = gate->wait_exclusive(interrupted); !locked) return locked.error();
    if (gate->is_current()) return gate;
  }
}

/// With the gate and the use locked by the caller alone. In this order: while anything is there,
/// there is a gate to find it by.
Result<void> remove_entry(const std::string& directory, LockFile& use, LockFile& gate) {
  if (Result<void> removed = remove_tree(directory); !removed) return removed;
  fault_point("shared.files_removed");
  use.remove();
  fault_point("shared.use_removed");
  gate.remove();
  fault_point("shared.gate_removed");
  return {};
}

/// A killed process's files go, and the location's come.
Result<void> fetch_anew(const std::string& directory, const SharedDownload::Fetch& fetch) {
  if (Result<void> removed = remove_tree(directory); !removed) return removed;
  fault_point("shared.cleared");
  if (::mkdir(directory.c_str(), 0700) != 0) return system_error("make the directory", directory, errno);
  fault_point("shared.made");
  return fetch(directory);
}

/// This user's directory for what is temporary. A rank's TMPDIR is removed with its attempt; what
/// the machine shares has another place.
std::string own_directory() {
  const char* set = std::getenv("HEADWAY_MACHINE_TMPDIR");
  if (set == nullptr) set = std::getenv("TMPDIR");
  const std::string temporary = set != nullptr && set[0] == '/' ? set : "/tmp";
  return join(temporary, "headway-" + std::to_string(::geteuid()));
}

void sweep_entry(const std::string& directory) {
  Result<LockFile> gate = LockFile::open(directory + std::string(gate_suffix));
  if (!gate) return;
  const Result<bool> passed = gate->try_exclusive();
  if (!passed || !*passed || !gate->is_current()) return;
  Result<LockFile> use = LockFile::open(directory + std::string(use_suffix));
  if (!use) return;
  const Result<bool> unused = use->try_exclusive();
  if (unused && *unused) (void)remove_entry(directory, *use, *gate);
}

}  // namespace

Result<SharedDownload> SharedDownload::get(const std::string& base, const std::string& location, const Fetch& fetch,
                                           const Interrupted& interrupted) {
  sweep_downloads(base);
  const std::string directory = join(base, entry_name(location));
  Result<LockFile> gate = pass_gate(directory, interrupted);
  if (!gate) return gate.error();
  fault_point("shared.gate_locked");
  Result<LockFile> use = LockFile::open(directory + std::string(use_suffix));
  if (!use) return use.error();
  const Result<bool> unused = use->try_exclusive();
  if (!unused) return unused.error();
  // Something that clears temporary directories may have come by.
  const Result<bool> there = is_real_directory(directory);
  if (!there) return there.error();
  if (*unused || !*there) {
    Result<void> fetched = fetch_anew(directory, fetch);
    if (!fetched) {
      (void)remove_entry(directory, *use, *gate);
      return fetched.error();
    }
  }
  fault_point("shared.fetched");
  if (Result<void> shared = use->share(); !shared) return shared.error();
  fault_point("shared.in_use");
  return SharedDownload(directory, std::move(*use));
}

SharedDownload& SharedDownload::operator=(SharedDownload&& other) noexcept {
  if (this != &other) {
    release();
    directory_ = std::move(other.directory_);
    use_ = std::move(other.use_);
  }
  return *this;
}

SharedDownload::~SharedDownload() { release(); }

void SharedDownload::release() {
  LockFile use = std::move(use_);
  if (!use.is_open()) return;
  // Without the gate the files stay until a sweep: nobody who comes now may find them half removed.
  Result<LockFile> gate = pass_gate(directory_, {});
  if (!gate) return;
  fault_point("shared.leaving");
  const Result<bool> last = use.try_exclusive();
  if (last && *last) (void)remove_entry(directory_, use, *gate);
}

Result<std::string> downloads_directory() {
  std::string directory = own_directory();
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("make the directory", directory, errno);
  struct ::stat status = {};
  if (::lstat(directory.c_str(), &status) != 0) return system_error("stat", directory, errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) {
    return Error{ErrorKind::unavailable, directory + " is not a directory of this user's; set TMPDIR to another place"};
  }
  directory = join(directory, downloads_name);
  if (Result<void> made = make_directory(directory); !made) return made.error();
  return directory;
}

void sweep_downloads(const std::string& base) {
  const Result<std::vector<std::string>> names = read_directory(base);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name.ends_with(gate_suffix)) sweep_entry(join(base, name.substr(0, name.size() - gate_suffix.size())));
  }
}

void sweep_downloads() {
  const std::string own = own_directory();
  struct ::stat status = {};
  if (::lstat(own.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return;
  sweep_downloads(join(own, downloads_name));
}

}  // namespace headway::storage
