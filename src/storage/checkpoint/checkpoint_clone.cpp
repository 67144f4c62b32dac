#include "storage/checkpoint/checkpoint_clone.hpp"

#include "core/location.hpp"
#include "storage/checkpoint/checkpoint_copy.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>
#include <vector>

namespace headway::storage {
namespace {

/// What was recorded without a checksum may be written again, as the metadata may.
bool is_fixed(const FileRecord& file) { return !file.checksum.empty() && file.name != metadata_name; }

/// Gives files of `source` a second name in `target`; returns those that need a copy.
Result<std::vector<FileRecord>> link_files(const std::string& source, const std::string& target,
                                           const std::vector<FileRecord>& files) {
  std::vector<FileRecord> others;
  std::set<std::string> directories;
  for (const FileRecord& file : files) {
    const std::string name = join(target, file.name);
    const std::string directory = parent_of(name);
    if (directory != target && !directories.contains(directory)) {
      if (Result<void> made = make_directories(directory); !made) return made.error();
    }
    if (is_fixed(file) && ::link(join(source, file.name).c_str(), name.c_str()) == 0) {
      directories.insert(directory);
    } else {
      others.push_back(file);
    }
  }
  directories.erase(target);  // The commit brings it to the disk.
  for (const std::string& directory : directories) {
    if (Result<void> synced = sync_directory(directory); !synced) return synced.error();
  }
  return others;
}

/// The source's files: those that are there, and those that must be.
Result<std::vector<FileRecord>> files_of(const std::string& source, const Manifest& recorded) {
  Result<std::vector<FileRecord>> files = list_files(source);
  if (!files) return files.error();
  for (const FileRecord& known : recorded.files) {
    const auto there = std::ranges::find(*files, known.name, &FileRecord::name);
    if (there != files->end()) {
      *there = known;
    } else if (is_fixed(known)) {
      files->push_back(known);
    }
  }
  return files;
}

Result<void> clone_begun(const std::string& source, const std::string& target, Manifest manifest) {
  const Result<Manifest> recorded = read_manifest(source);
  if (!recorded) return recorded.error();
  Result<std::vector<FileRecord>> files = files_of(source, *recorded);
  if (!files) return files.error();
  const Result<std::vector<FileRecord>> others = link_files(source, target, *files);
  if (!others) return others.error();
  std::vector<std::string> names;
  for (const FileRecord& file : *others) names.push_back(file.name);
  if (!names.empty()) {
    Result<std::vector<FileRecord>> copied = upload(source, target, names, 0, Transfer::copy);
    if (!copied) return copied.error();
    for (FileRecord& copy : *copied) {
      FileRecord& file = *std::ranges::find(*files, copy.name, &FileRecord::name);
      copy.rank = file.rank;
      file = std::move(copy);
    }
  }
  manifest.files = std::move(*files);
  manifest.checkpoint = last_part(target);
  return commit(target, manifest);
}

}  // namespace

Result<void> clone_checkpoint(const std::string& source, const std::string& target, Manifest manifest) {
  if (is_remote(source) || is_remote(target)) {
    const Result<Manifest> copied = copy_checkpoint(source, target, {}, &manifest);
    return copied ? Result<void>() : copied.error();
  }
  if (const Result<Manifest> there = read_manifest(source); !there) return there.error();
  if (Result<void> begun = begin_checkpoint(target); !begun) return begun;
  Result<void> cloned = clone_begun(source, target, std::move(manifest));
  if (!cloned) (void)discard_unfinished(target);
  return cloned;
}

}  // namespace headway::storage
