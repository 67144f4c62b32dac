#include "core/fault_point.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/disk/transfer.hpp"
#include "storage/local/local.hpp"
#include "storage/storage.hpp"

#include <set>

namespace headway::storage {

namespace {

Result<void> check_names(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (Result<void> fits = check_file_name(name); !fits) return fits;
    if (!seen.insert(name).second)
      return Error{ErrorKind::invalid_argument, "the file " + name + " is named twice in one upload"};
  }
  return {};
}

/// The checkpoint directory and each one below it that holds a named file, parents before children.
std::set<std::string> directories_of(const std::string& checkpoint_directory, const std::vector<std::string>& names) {
  std::set<std::string> directories{checkpoint_directory};
  for (const std::string& name : names) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      directories.insert(join(checkpoint_directory, std::string_view(name).substr(0, slash)));
    }
  }
  return directories;
}

Result<void> sync_all(const std::set<std::string>& directories) {
  const std::vector<std::string> list(directories.begin(), directories.end());
  return parallel_for(list.size(), storage_threads_max, [&](std::size_t index) { return sync_directory(list[index]); });
}

}  // namespace

Result<std::vector<FileRecord>> local::upload(const std::string& source_directory,
                                              const std::string& checkpoint_directory,
                                              const std::vector<std::string>& names, int rank, Transfer transfer,
                                              const OnBytes& on_bytes, Target target) {
  if (Result<void> fit = check_names(names); !fit) return fit.error();
  if (target == Target::begun) {
    const Result<bool> begun = exists(join(checkpoint_directory, begun_marker_name));
    if (!begun) return begun.error();
    if (!*begun) return Error{ErrorKind::not_found, "checkpoint " + checkpoint_directory + " has not been begun"};
  }

  const std::set<std::string> directories = directories_of(checkpoint_directory, names);
  for (const std::string& directory : directories) {
    if (Result<void> made = make_directory(directory); !made) return made.error();
  }
  fault_point("upload.directories_made");

  std::vector<FileJob> jobs;
  const std::string part_start = join(checkpoint_directory, part_prefix) + std::to_string(rank) + ".";
  for (const std::string& name : names) {
    jobs.push_back({name,
                    join(source_directory, name),
                    join(checkpoint_directory, name),
                    part_start + std::to_string(jobs.size()),
                    {}});
  }
  Moves moves(source_directory);
  Result<void> brought =
      transfer == Transfer::link ? moves.bring(jobs, checkpoint_directory) : copy_files(jobs, on_bytes);
  if (brought) {
    fault_point("upload.files_synced");
    brought = sync_all(directories);
  }
  if (!brought) {
    moves.undo();
    return brought.error();
  }
  fault_point("upload.directories_synced");

  std::vector<FileRecord> records;
  for (std::size_t index = 0; index < jobs.size(); ++index) {
    records.push_back({names[index], jobs[index].content.size, jobs[index].content.checksum, rank});
  }
  return records;
}

}  // namespace headway::storage
