#include "core/fault_point.hpp"
#include "core/manifest.hpp"
#include "storage/disk/uploaded_files.hpp"
#include "storage/remote/remote_standing.hpp"

#include <algorithm>
#include <random>

namespace headway::storage::remote {

namespace {

constexpr std::string_view marker_content = "Headway has begun the checkpoint of this name here\n";

/// Takes away all of a checkpoint that is not committed (any more); the marker last, so that
/// whoever dies before leaves work to a sweep and no orphan.
Result<void> remove_marked(const Remote& checkpoint) {
  if (Result<void> removed = checkpoint.store.remove_tree(checkpoint.path); !removed) return removed;
  fault_point("remote.tree_removed");
  return checkpoint.store.remove_file(marker_of(checkpoint.path));
}

/// The commit: one object, which is there whole or is no manifest.
Result<void> write_manifest(const Remote& checkpoint, const Manifest& manifest) {
  const std::string path = below(checkpoint.path, manifest_name);
  const std::string text = to_json_text(manifest) + "\n";
  fault_point("remote.commit.before");
  if (Result<void> written = checkpoint.store.write(path, text); !written) return written;
  fault_point("remote.commit.manifest_written");
  // Storage that says yes and has nothing is found out here, while the ranks still have their
  // files.
  const Result<std::string> there = checkpoint.store.read(path);
  if (!there) return Error{ErrorKind::unavailable, there.error().message};
  if (*there != text) {
    return Error{ErrorKind::unavailable, checkpoint.store.shown(path) + " reads otherwise than it was written"};
  }
  return {};
}

std::string random_name() {
  std::random_device random;
  return std::to_string(random());
}

Result<void> write_and_read_back(const Remote& run) {
  constexpr std::string_view content = "Headway was here\n";
  const std::string path = below(run.path, std::string(part_prefix) + "probe." + random_name());
  if (Result<void> made = run.store.make_directory(run.path); !made) return made;
  if (Result<void> written = run.store.write(path, content); !written) return written;
  const Result<std::string> read = run.store.read(path);
  Result<void> removed = run.store.remove_file(path);
  if (!read) return read.error();
  if (*read != content) {
    // What the AWS SDK sends has chunks around the content, which servers are to take away.
    const char* hint = read->find("x-amz-checksum") == std::string::npos
                           ? ""
                           : ": it keeps the checksums around the content; with "
                             "AWS_REQUEST_CHECKSUM_CALCULATION=when_required in the environment none are sent";
    return Error{ErrorKind::refused, run.store.shown(path) + " reads otherwise than it was written" + hint};
  }
  return removed;
}

}  // namespace

Result<void> probe(const Remote& run) {
  RetryPolicy policy = run.store.policy();
  policy.attempts_max = std::min(policy.attempts_max, 2);
  policy.total_max = std::min(policy.total_max, std::chrono::milliseconds(5000));
  const Result<void> proved = write_and_read_back({run.store.with(policy), run.path});
  if (proved) return {};
  // A bucket that is not there is "not found" to some clients.
  const ErrorKind kind = proved.error().kind == ErrorKind::not_found ? ErrorKind::refused : proved.error().kind;
  return Error{kind, "RunConfig.storage_path: the run's folder " + run.store.shown(run.path) +
                         " can't be used: " + proved.error().message};
}

Result<void> begin_checkpoint(const Remote& checkpoint) {
  const Result<Standing> standing = standing_of(checkpoint);
  if (!standing) return standing.error();
  const std::string shown = checkpoint.store.shown(checkpoint.path);
  switch (*standing) {
    case Standing::committed: return Error{ErrorKind::already_exists, shown + " holds a committed checkpoint already"};
    case Standing::foreign:
      return Error{ErrorKind::already_exists, shown + " is there already and was not begun by Headway"};
    case Standing::begun:
      if (Result<void> removed = checkpoint.store.remove_tree(checkpoint.path); !removed) return removed;
      break;
    case Standing::nothing: break;
  }
  fault_point("remote.begin.free");
  if (Result<void> marked = checkpoint.store.write(marker_of(checkpoint.path), marker_content); !marked) return marked;
  fault_point("remote.begin.marked");
  return checkpoint.store.make_directory(checkpoint.path);
}

Result<void> commit(const Remote& checkpoint, const Manifest& manifest) {
  const std::string shown = checkpoint.store.shown(checkpoint.path);
  if (Result<void> valid = check_manifest(manifest, shown, ErrorKind::invalid_argument); !valid) return valid;
  const Result<Standing> standing = standing_of(checkpoint);
  if (!standing) return standing.error();
  if (*standing == Standing::committed) return Error{ErrorKind::already_exists, shown + " is committed already"};
  if (*standing != Standing::begun) {
    return Error{ErrorKind::invalid_argument, "checkpoint " + shown + " has not been begun"};
  }
  if (Result<void> written = write_manifest(checkpoint, manifest); !written) return written;
  // A marker that stays changes nothing.
  (void)checkpoint.store.remove_file(marker_of(checkpoint.path));
  fault_point("remote.commit.marker_removed");
  return {};
}

Result<void> commit_placed(const Remote& checkpoint, Manifest manifest) {
  const Result<Standing> standing = standing_of(checkpoint);
  if (!standing) return standing.error();
  const std::string shown = checkpoint.store.shown(checkpoint.path);
  if (*standing == Standing::begun) {
    return Error{ErrorKind::already_exists, shown + " holds a checkpoint that is being stored already"};
  }
  if (Result<void> made = checkpoint.store.make_directory(checkpoint.path); !made) return made;
  std::vector<FileRecord> found;
  if (*standing != Standing::nothing) {
    Result<std::vector<FileRecord>> files = list_files(checkpoint);
    if (!files) return files.error();
    found = std::move(*files);
  }
  keep_checksums(manifest.files, found);
  manifest.files = std::move(found);
  if (Result<void> valid = check_manifest(manifest, shown, ErrorKind::invalid_argument); !valid) return valid;
  return write_manifest(checkpoint, manifest);
}

Result<void> remove_checkpoint(const Remote& checkpoint) {
  const Result<Standing> standing = standing_of(checkpoint);
  if (!standing) return standing.error();
  const std::string shown = checkpoint.store.shown(checkpoint.path);
  if (*standing == Standing::nothing || *standing == Standing::foreign) {
    return Error{ErrorKind::not_found, shown + " holds no checkpoint of Headway's"};
  }
  if (*standing == Standing::committed) {
    // The marker first: from the manifest's removal on, a sweep takes what may be left.
    if (Result<void> marked = checkpoint.store.write(marker_of(checkpoint.path), marker_content); !marked)
      return marked;
    fault_point("remote.remove.marked");
    const std::string manifest = below(checkpoint.path, manifest_name);
    if (Result<void> removed = checkpoint.store.remove_file(manifest); !removed) return removed;
    const Result<bool> still = is_file(checkpoint.store, manifest);
    if (!still) return still.error();
    if (*still) {
      return Error{ErrorKind::unavailable,
                   checkpoint.store.shown(manifest) + " was removed without an error, and is still there"};
    }
    fault_point("remote.remove.manifest_removed");
  }
  return remove_marked(checkpoint);
}

Result<void> discard_unfinished(const Remote& checkpoint) {
  const Result<Standing> standing = standing_of(checkpoint);
  if (!standing) return standing.error();
  return *standing == Standing::begun ? remove_marked(checkpoint) : Result<void>{};
}

Result<std::vector<std::string>> sweep(const Remote& run) {
  const Result<std::vector<Entry>> entries = run.store.list(run.path, false);
  if (!entries) return entries.error();
  std::vector<std::string> removed;
  for (const Entry& entry : *entries) {
    if (entry.name.starts_with(part_prefix)) {
      const std::string path = below(run.path, entry.name);
      if (Result<void> gone = run.store.remove_tree(path); !gone) return gone.error();
      removed.push_back(entry.name);
    } else if (entry.name.starts_with(begun_marker_prefix) && entry.name.size() > begun_marker_prefix.size()) {
      const std::string name = entry.name.substr(begun_marker_prefix.size());
      const Remote checkpoint{run.store, below(run.path, name)};
      const Result<Standing> standing = standing_of(checkpoint);
      if (!standing) return standing.error();
      const bool committed = *standing == Standing::committed;
      const Result<void> gone =
          committed ? run.store.remove_file(marker_of(checkpoint.path)) : remove_marked(checkpoint);
      if (!gone) return gone.error();
      if (!committed) removed.push_back(name);
    }
    fault_point("remote.sweep.removed_one");
  }
  return removed;
}

}  // namespace headway::storage::remote
