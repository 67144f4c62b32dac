#include "storage/local/manifest_file.hpp"

#include "core/fault_point.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/local/local.hpp"
#include "storage/storage.hpp"

#include <unistd.h>

namespace headway::storage {

Result<Standing> standing_of(const std::string& checkpoint_directory) {
  const Result<bool> directory = is_real_directory(checkpoint_directory);
  if (!directory) return directory.error();
  if (!*directory) return Standing::foreign;
  const Result<bool> committed = exists(join(checkpoint_directory, manifest_name));
  if (!committed) return committed.error();
  if (*committed) return Standing::committed;
  const Result<bool> begun = exists(join(checkpoint_directory, begun_marker_name));
  if (!begun) return begun.error();
  return *begun ? Standing::begun : Standing::foreign;
}

Result<Manifest> local::read_manifest(const std::string& checkpoint_directory) {
  const std::string path = join(checkpoint_directory, manifest_name);
  const Result<std::string> text = read_whole(path);
  if (!text) {
    if (text.error().kind != ErrorKind::not_found) return text.error();
    return Error{ErrorKind::not_found,
                 "no committed checkpoint at " + checkpoint_directory + ": it has no " + std::string(manifest_name)};
  }
  return parse_manifest(*text, path);
}

Result<void> write_manifest(const std::string& checkpoint_directory, const Manifest& manifest) {
  const std::string part = join(checkpoint_directory, std::string(part_prefix) + "manifest");
  if (Result<void> written = write_whole(part, to_json_text(manifest) + "\n"); !written) {
    ::unlink(part.c_str());
    return written;
  }
  fault_point("commit.manifest_written");
  if (Result<void> renamed = rename_path(part, join(checkpoint_directory, manifest_name), true); !renamed)
    return renamed;
  fault_point("commit.manifest_renamed");
  if (Result<void> synced = sync_directory(checkpoint_directory); !synced) return synced;
  if (Result<void> synced = sync_directory(parent_of(checkpoint_directory)); !synced) return synced;
  fault_point("commit.directories_synced");
  return {};
}

std::string removed_path(const std::string& checkpoint_directory) {
  return join(parent_of(checkpoint_directory), std::string(part_prefix) + "removed." + last_part(checkpoint_directory));
}

Result<void> discard(const std::string& checkpoint_directory) {
  const std::string run_directory = parent_of(checkpoint_directory);
  const std::string removed = removed_path(checkpoint_directory);
  if (Result<void> cleared = remove_tree(removed); !cleared) return cleared;
  if (Result<void> renamed = rename_path(checkpoint_directory, removed, false); !renamed) return renamed;
  fault_point("remove.renamed");
  // From here on it is durably not listed; without this a loss of power could bring back a
  // checkpoint with files missing.
  if (Result<void> synced = sync_directory(run_directory); !synced) return synced;
  fault_point("remove.synced");
  return remove_tree(removed);
}

}  // namespace headway::storage
