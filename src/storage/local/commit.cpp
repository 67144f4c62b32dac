#include "core/fault_point.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/local/local.hpp"
#include "storage/local/manifest_file.hpp"
#include "storage/storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace headway::storage {

namespace {

/// Frees the name of a checkpoint to be begun: nothing there, or something of ours that was never
/// committed.
Result<void> free_name(const std::string& checkpoint_directory) {
  const Result<bool> there = exists(checkpoint_directory);
  if (!there) return there.error();
  if (!*there) return {};
  const Result<Standing> standing = standing_of(checkpoint_directory);
  if (!standing) return standing.error();
  switch (*standing) {
    case Standing::begun: return discard(checkpoint_directory);
    case Standing::committed:
      return Error{ErrorKind::already_exists, checkpoint_directory + " holds a committed checkpoint already"};
    case Standing::foreign: break;
  }
  return Error{ErrorKind::already_exists, checkpoint_directory + " is there already and was not begun by Headway"};
}

}  // namespace

Result<void> local::begin_checkpoint(const std::string& checkpoint_directory) {
  if (Result<void> freed = free_name(checkpoint_directory); !freed) return freed;
  // Marked under another name first, so that there is never a directory of ours without the marker,
  // which nobody would sweep.
  const std::string run_directory = parent_of(checkpoint_directory);
  const std::string staged = join(run_directory, std::string(part_prefix) + "begin." + last_part(checkpoint_directory));
  if (Result<void> removed = remove_tree(staged); !removed) return removed;
  if (::mkdir(staged.c_str(), 0777) != 0) return system_error("make the directory", staged, errno);
  fault_point("begin.staged");
  if (Result<File> marker = open_file(join(staged, begun_marker_name), O_WRONLY | O_CREAT | O_EXCL); !marker)
    return marker.error();
  fault_point("begin.marked");
  Result<void> renamed = rename_path(staged, checkpoint_directory, false);
  if (!renamed) {
    (void)remove_tree(staged);
    return renamed;
  }
  fault_point("begin.renamed");
  return {};
}

Result<void> local::commit(const std::string& checkpoint_directory, const Manifest& manifest) {
  if (Result<void> valid = check_manifest(manifest, checkpoint_directory, ErrorKind::invalid_argument); !valid)
    return valid;
  const Result<Standing> standing = standing_of(checkpoint_directory);
  if (!standing) return standing.error();
  if (*standing == Standing::committed)
    return Error{ErrorKind::already_exists, checkpoint_directory + " is committed already"};
  if (*standing == Standing::foreign) {
    return Error{ErrorKind::invalid_argument, "checkpoint " + checkpoint_directory + " has not been begun"};
  }
  if (Result<void> written = write_manifest(checkpoint_directory, manifest); !written) return written;
  // Last, and not fsynced: a marker that comes back after a loss of power changes nothing, one that
  // goes too early loses the checkpoint to nobody's sweep.
  ::unlink(join(checkpoint_directory, begun_marker_name).c_str());
  fault_point("commit.marker_removed");
  return {};
}

Result<void> local::remove_checkpoint(const std::string& checkpoint_directory) {
  const Result<Standing> standing = standing_of(checkpoint_directory);
  if (!standing) return standing.error();
  if (*standing == Standing::foreign) {
    // Another try: what has been renamed away and could not be removed then.
    const std::string removed = removed_path(checkpoint_directory);
    const Result<bool> left = exists(removed);
    if (!left) return left.error();
    if (*left) return remove_tree(removed);
    return Error{ErrorKind::not_found, checkpoint_directory + " holds no checkpoint of Headway's"};
  }
  return discard(checkpoint_directory);
}

}  // namespace headway::storage
