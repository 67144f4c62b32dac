#include "storage/checkpoint/artifact_copier.hpp"

#include "core/location.hpp"
#include "core/manifest.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace headway::storage {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

Error stopped() { return {ErrorKind::aborted, "the copy was stopped before it was through"}; }

/// As much as the file had when the copy began: it may be growing.
Result<void> copy_bytes(const File& from, const File& to, std::uint64_t size, const std::stop_token& stop) {
  const auto buffer = std::make_unique<std::array<std::byte, chunk_bytes>>();
  for (std::uint64_t offset = 0; offset < size;) {
    if (stop.stop_requested()) return stopped();
    const std::span<std::byte> wanted = std::span(*buffer).first(std::min<std::uint64_t>(chunk_bytes, size - offset));
    const Result<std::size_t> got = from.read_at(wanted, offset);
    if (!got) return got.error();
    if (Result<void> put = to.write_at(wanted.first(*got), offset, size); !put) return put;
    offset += *got;
    if (*got < wanted.size()) break;
  }
  return {};
}

}  // namespace

Result<void> ArtifactCopier::copy(const std::stop_token& stop) {
  first_error_.reset();
  walk("", stop);
  if (stop.stop_requested()) return stopped();
  if (first_error_) return *first_error_;
  return {};
}

void ArtifactCopier::note(const Error& error) {
  if (!first_error_) first_error_ = error;
}

void ArtifactCopier::walk(const std::string& relative, const std::stop_token& stop) {
  const Result<std::vector<std::string>> names = read_directory(relative.empty() ? source_ : join(source_, relative));
  if (!names) {
    if (names.error().kind != ErrorKind::not_found) note(names.error());
    return;
  }
  for (const std::string& name : *names) {
    if (stop.stop_requested()) return;
    visit(relative.empty() ? name : join(relative, name), stop);
  }
}

void ArtifactCopier::visit(const std::string& relative, const std::stop_token& stop) {
  const std::string path = join(source_, relative);
  const Result<bool> directory = is_real_directory(path);
  if (directory && *directory) return walk(relative, stop);
  struct ::stat status = {};
  // A link that leads nowhere, or a file that went a moment ago, is no error of the copy.
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const Stamp stamp{status.st_size, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
  const auto known = copied_.find(relative);
  if (known != copied_.end() && known->second == stamp) return;
  Result<void> done = is_remote(target_) ? put_one(relative) : copy_one(relative, stop);
  if (!done && ::access(path.c_str(), F_OK) != 0) return;
  if (done) {
    copied_[relative] = stamp;
  } else {
    note(done.error());
  }
}

Result<void> ArtifactCopier::put_one(const std::string& relative) {
  if (Result<void> fits = check_remote_name(relative, "the file name"); !fits) return fits;
  return put_file(join(source_, relative), join_location(target_, relative));
}

Result<void> ArtifactCopier::copy_one(const std::string& relative, const std::stop_token& stop) {
  const Result<File> from = open_regular_file(join(source_, relative), ErrorKind::not_found);
  if (!from) return from.error();
  const Result<struct ::stat> status = from->status();
  if (!status) return status.error();
  const std::string target = join(target_, relative);
  if (Result<void> made = make_directories(parent_of(target)); !made) return made;
  const std::string part = join(target_, std::string(part_prefix) + name_);
  auto written = [&]() -> Result<void> {
    const Result<File> to = open_file(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (!to) return to.error();
    const auto size = static_cast<std::uint64_t>(status->st_size);
    if (Result<void> copied = copy_bytes(*from, *to, size, stop); !copied) return copied;
    const std::array<::timespec, 2> times{status->st_atim, status->st_mtim};
    if (::fchmod(to->descriptor(), status->st_mode & 0777) != 0 || ::futimens(to->descriptor(), times.data()) != 0) {
      return system_error("set the permissions and times of", part, errno);
    }
    return {};
  }();
  if (written) return rename_path(part, target, true);
  ::unlink(part.c_str());
  return written;
}

}  // namespace headway::storage
