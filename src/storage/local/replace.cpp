#include "core/fault_point.hpp"
#include "core/manifest.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/local/local.hpp"
#include "storage/storage.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace headway::storage {

Result<void> local::probe(const std::string& run_directory) {
  const auto refuse = [&](const Error& why) {
    return Error{ErrorKind::unavailable,
                 "RunConfig.storage_path: the run's folder " + run_directory + " can't be used: " + why.message};
  };
  if (Result<void> made = make_directories(run_directory); !made) return refuse(made.error());
  const std::string path = join(run_directory, std::string(part_prefix) + "probe." + std::to_string(::getpid()));
  constexpr std::string_view content = "Headway was here\n";
  if (Result<void> written = write_whole(path, content); !written) {
    ::unlink(path.c_str());
    return refuse(written.error());
  }
  const Result<std::string> read = read_whole(path);
  if (::unlink(path.c_str()) != 0) return refuse(system_error("remove", path, errno));
  if (!read) return refuse(read.error());
  if (*read != content) return refuse({ErrorKind::unavailable, path + " reads otherwise than it was written"});
  return {};
}

namespace {

/// Several may replace one file at once, as ranks that all set a checkpoint's metadata do: each
/// writes a separate file, and the last rename wins.
std::string part_of(const std::string& path) {
  static std::atomic<unsigned> count{0};
  const std::string own = std::to_string(::getpid()) + "." + std::to_string(++count);
  return join(parent_of(path), std::string(part_prefix) + last_part(path) + "." + own);
}

}  // namespace

Result<void> local::replace_file(const std::string& path, std::string_view content) {
  const std::string part = part_of(path);
  if (Result<void> written = write_whole(part, content); !written) {
    ::unlink(part.c_str());
    return written;
  }
  fault_point("replace.written");
  if (Result<void> renamed = rename_path(part, path, true); !renamed) {
    ::unlink(part.c_str());
    return renamed;
  }
  fault_point("replace.renamed");
  return sync_directory(parent_of(path));
}

}  // namespace headway::storage
