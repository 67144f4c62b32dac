#include "storage/copy.hpp"
#include "storage/directory.hpp"
#include "storage/local.hpp"
#include "storage/parallel.hpp"
#include "storage/storage.hpp"

#include <set>

namespace headway::storage {

Result<void> local::download(const std::string& directory, const std::string& target_directory) {
  const Result<std::vector<FileRecord>> files = list_files(directory);
  if (!files) return files.error();
  if (Result<void> made = make_directories(target_directory); !made) return made;
  std::set<std::string> parents;
  for (const FileRecord& file : *files) parents.insert(parent_of(join(target_directory, file.name)));
  for (const std::string& parent : parents) {
    if (Result<void> made = make_directories(parent); !made) return made;
  }
  return parallel_for(files->size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    const std::string& name = (*files)[index].name;
    const std::string part = join(target_directory, std::string(part_prefix) + "download." + std::to_string(index));
    const Result<Copied> copied =
        copy_file(join(directory, name), join(target_directory, name), part, CopyFor::reading);
    return copied ? Result<void>() : copied.error();
  });
}

}  // namespace headway::storage
