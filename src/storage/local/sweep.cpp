#include "core/fault_point.hpp"
#include "storage/disk/directory.hpp"
#include "storage/local/local.hpp"
#include "storage/local/manifest_file.hpp"
#include "storage/storage.hpp"

namespace headway::storage {

Result<void> remove_directory(const std::string& directory) { return remove_tree(directory); }

Result<void> local::discard_unfinished(const std::string& checkpoint_directory) {
  const Result<bool> there = exists(checkpoint_directory);
  if (!there) return there.error();
  if (!*there) return {};
  const Result<Standing> standing = standing_of(checkpoint_directory);
  if (!standing) return standing.error();
  return *standing == Standing::begun ? discard(checkpoint_directory) : Result<void>{};
}

Result<std::vector<std::string>> local::sweep(const std::string& run_directory) {
  const Result<std::vector<std::string>> names = read_directory(run_directory);
  if (!names) return names.error();
  std::vector<std::string> removed;
  for (const std::string& name : *names) {
    const std::string path = join(run_directory, name);
    if (name.starts_with(part_prefix)) {
      if (Result<void> gone = remove_tree(path); !gone) return gone.error();
    } else {
      const Result<Standing> standing = standing_of(path);
      if (!standing) return standing.error();
      if (*standing != Standing::begun) continue;
      if (Result<void> gone = discard(path); !gone) return gone.error();
    }
    fault_point("sweep.removed_one");
    removed.push_back(name);
  }
  return removed;
}

}  // namespace headway::storage
