#include "storage/disk/copy.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/local/local.hpp"
#include "storage/storage.hpp"

#include <set>

namespace headway::storage {

Result<std::vector<FileRecord>> local::download(const std::string& directory, const std::string& target_directory,
                                                const OnBytes& on_bytes) {
  const Result<bool> there = exists(directory);
  if (!there) return there.error();
  if (!*there) return Error{ErrorKind::not_found, "there is no directory " + directory};
  Result<std::vector<FileRecord>> files = list_files(directory);
  if (!files) return files;
  if (Result<void> made = make_directories(target_directory); !made) return made.error();
  std::set<std::string> parents;
  for (const FileRecord& file : *files) parents.insert(parent_of(join(target_directory, file.name)));
  for (const std::string& parent : parents) {
    if (Result<void> made = make_directories(parent); !made) return made.error();
  }
  const Result<void> copied = parallel_for(files->size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    FileRecord& file = (*files)[index];
    const std::string part = join(target_directory, std::string(part_prefix) + "download." + std::to_string(index));
    Result<Copied> one =
        copy_file(join(directory, file.name), join(target_directory, file.name), part, CopyFor::reading, on_bytes);
    if (!one) return one.error();
    file.size = one->content.size;
    file.checksum = std::move(one->content.checksum);
    return {};
  });
  if (!copied) return copied.error();
  return files;
}

}  // namespace headway::storage
