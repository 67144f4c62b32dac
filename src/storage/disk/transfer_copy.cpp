#include "core/fault_point.hpp"
#include "storage/disk/copy.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/disk/transfer.hpp"

#include <algorithm>

namespace headway::storage {

namespace {

/// Copies the jobs first and fsyncs them then, so that the file system can write them all with few
/// commits of its journal.
Result<void> copy_batch(std::span<FileJob> jobs, const OnBytes& on_bytes) {
  std::vector<File> written(jobs.size());
  Result<void> copied = parallel_for(jobs.size(), storage_threads_max, [&](std::size_t index) -> Result<void> {
    FileJob& job = jobs[index];
    Result<Copied> done = copy_file(job.source, job.target, job.part, CopyFor::keeping, on_bytes);
    if (!done) return done.error();
    job.content = std::move(done->content);
    written[index] = std::move(done->file);
    fault_point("upload.file_copied");
    return {};
  });
  if (!copied) return copied;
  return parallel_for(jobs.size(), storage_threads_max, [&](std::size_t index) { return written[index].sync(); });
}

}  // namespace

Result<void> copy_files(std::span<FileJob> jobs, const OnBytes& on_bytes) {
  for (std::size_t first = 0; first < jobs.size(); first += batch_files_max) {
    Result<void> copied = copy_batch(jobs.subspan(first, std::min(batch_files_max, jobs.size() - first)), on_bytes);
    if (!copied) return copied;
  }
  return {};
}

}  // namespace headway::storage
