#include "core/fault_point.hpp"
#include "storage/disk/copy.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/disk/transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace headway::storage {

namespace {

bool is_link(const std::string& path) {
  struct ::stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

/// Checksums the files and fsyncs them, both at once: the disk writes while the processor reads
/// what is still in memory.
Result<void> checksum_and_sync(std::span<FileJob* const> jobs, std::span<const File> files) {
  return parallel_for(jobs.size() * 2, storage_threads_max, [&](std::size_t index) -> Result<void> {
    if (index % 2 == 0) return files[index / 2].sync();
    Result<Content> content = read_content(files[index / 2]);
    if (!content) return content.error();
    jobs[index / 2]->content = std::move(*content);
    return {};
  });
}

}  // namespace

/// Whether a directory on the way from the source directory to the file is a symbolic link.
bool Moves::is_reached_through_link(const std::string& name) const {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (is_link(join(source_directory_, std::string_view(name).substr(0, slash)))) return true;
  }
  return false;
}

Result<void> Moves::bring_batch(std::span<FileJob> jobs, std::uint64_t target_device) {
  std::vector<FileJob*> moved;
  std::vector<File> files;
  std::vector<FileJob> to_copy;
  std::vector<FileJob*> copied;
  const auto copy_instead = [&](FileJob& job) {
    to_copy.push_back(job);
    copied.push_back(&job);
  };
  for (FileJob& job : jobs) {
    Result<File> file = open_regular_file(job.source, ErrorKind::invalid_argument);
    if (!file) return file.error();
    const Result<struct ::stat> status = file->status();
    if (!status) return status.error();
    if (is_reached_through_link(job.name) || is_link(job.source) || status->st_nlink > 1 ||
        status->st_dev != target_device) {
      copy_instead(job);
      continue;
    }
    // A second name, not a rename: the source stays until the checkpoint is committed, whatever
    // becomes of other ranks' parts.
    if (::link(job.source.c_str(), job.target.c_str()) != 0) {
      copy_instead(
          // Bind mounts, project quotas and some file systems refuse links; so does a name that is
          // taken.
          job);
      continue;
    }
    fault_point("upload.file_linked");
    linked_.push_back(&job);
    moved.push_back(&job);
    files.push_back(std::move(*file));
  }
  if (Result<void> done = checksum_and_sync(moved, files); !done) return done;
  files.clear();
  if (Result<void> done = copy_files(to_copy); !done) return done;
  for (std::size_t index = 0; index < copied.size(); ++index) copied[index]->content = to_copy[index].content;
  return {};
}

Result<void> Moves::bring(std::span<FileJob> jobs, const std::string& checkpoint_directory) {
  struct ::stat status = {};
  if (::stat(checkpoint_directory.c_str(), &status) != 0) return system_error("stat", checkpoint_directory, errno);
  for (std::size_t first = 0; first < jobs.size(); first += batch_files_max) {
    Result<void> brought =
        bring_batch(jobs.subspan(first, std::min(batch_files_max, jobs.size() - first)), status.st_dev);
    if (!brought) return brought;
  }
  return {};
}

void Moves::undo() {
  for (const FileJob* job : linked_) ::unlink(job->target.c_str());
  linked_.clear();
}

}  // namespace headway::storage
