#include "storage/checksum.hpp"
#include "storage/directory.hpp"
#include "storage/file.hpp"
#include "storage/parallel.hpp"
#include "storage/storage.hpp"

#include <algorithm>

namespace headway::storage {

namespace {

Result<void> verify_file(const std::string& path, const FileRecord& expected) {
  const Result<File> file = open_regular_file(path, ErrorKind::corrupted);
  if (!file) {
    const ErrorKind kind = file.error().kind == ErrorKind::unavailable ? ErrorKind::unavailable : ErrorKind::corrupted;
    return Error{kind, file.error().message + ", expected a file of " + std::to_string(expected.size) + " bytes"};
  }
  const Result<struct ::stat> status = file->status();
  if (!status) return status.error();
  if (static_cast<std::uint64_t>(status->st_size) != expected.size) {
    return Error{ErrorKind::corrupted, path + " is damaged: expected " + std::to_string(expected.size) +
                                           " bytes, found " + std::to_string(status->st_size)};
  }
  const Result<Content> found = read_content(*file);
  if (!found) return found.error();
  if (found->checksum == expected.checksum) return {};
  return Error{ErrorKind::corrupted,
               path + " is damaged: expected checksum " + expected.checksum + ", found " + found->checksum};
}

}  // namespace

Result<void> verify(const std::string& checkpoint_directory) {
  const Result<Manifest> manifest = read_manifest(checkpoint_directory);
  if (!manifest) return manifest.error();
  const std::vector<FileRecord>& files = manifest->files;
  return parallel_for(files.size(), storage_threads_max, [&](std::size_t index) {
    return verify_file(join(checkpoint_directory, files[index].name), files[index]);
  });
}

Result<std::vector<FileRecord>> settle(const std::string& checkpoint_directory, std::vector<FileRecord> records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const FileRecord& a, const FileRecord& b) { return a.name < b.name; });
  std::vector<FileRecord> settled;
  for (std::size_t first = 0; first < records.size();) {
    std::size_t end = first + 1;
    while (end < records.size() && records[end].name == records[first].name) ++end;
    std::size_t kept = first;
    if (end - first > 1) {
      const std::string path = join(checkpoint_directory, records[first].name);
      const Result<File> file = open_regular_file(path, ErrorKind::invalid_argument);
      if (!file) return file.error();
      const Result<Content> content = read_content(*file);
      if (!content) return content.error();
      while (kept < end && (records[kept].checksum != content->checksum || records[kept].size != content->size)) ++kept;
      if (kept == end)
        return Error{ErrorKind::corrupted, path + " is none of the files that the ranks uploaded under this name"};
    }
    settled.push_back(records[kept]);
    first = end;
  }
  return settled;
}

}  // namespace headway::storage
