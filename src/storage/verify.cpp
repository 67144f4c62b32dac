#include "storage/checksum.hpp"
#include "storage/directory.hpp"
#include "storage/file.hpp"
#include "storage/local.hpp"
#include "storage/parallel.hpp"
#include "storage/storage.hpp"

namespace headway::storage {

namespace {

Result<void> verify_file(const std::string& path, const FileRecord& expected) {
  // The user's own, listed as they were found: he may have gone on writing.
  const bool placed = expected.checksum.empty();
  const Result<File> file = open_regular_file(path, ErrorKind::corrupted);
  if (!file) {
    const ErrorKind kind = file.error().kind == ErrorKind::unavailable ? ErrorKind::unavailable : ErrorKind::corrupted;
    return Error{kind, file.error().message + ", expected a file of " + std::to_string(expected.size) + " bytes"};
  }
  if (placed) return {};
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

Result<void> local::verify(const std::string& checkpoint_directory) {
  const Result<Manifest> manifest = read_manifest(checkpoint_directory);
  if (!manifest) return manifest.error();
  const std::vector<FileRecord>& files = manifest->files;
  return parallel_for(files.size(), storage_threads_max, [&](std::size_t index) {
    return verify_file(join(checkpoint_directory, files[index].name), files[index]);
  });
}

}  // namespace headway::storage
