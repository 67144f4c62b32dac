#pragma once

#include "storage/disk/checksum.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The two ways of bringing files into a checkpoint directory.
namespace headway::storage {

/// One file on its way.
struct FileJob {
  std::string name;  ///< Relative to the source's and to the checkpoint's directory.
  std::string source;
  std::string target;
  std::string part;  ///< The name to write under first when the target's is taken.
  Content content;   ///< Filled in.
};

/// Files held open between being brought and being fsynced; a training process needs its
/// descriptors for itself.
inline constexpr std::size_t batch_files_max = 128;

/// Copies every file and fsyncs it. The directories' entries are the caller's to fsync.
Result<void> copy_files(std::span<FileJob> jobs, const OnBytes& on_bytes = {});

/// Brings files by giving them a second name in the checkpoint, and remembers how to take that back
/// when a later step fails. The sources are the caller's to remove, once the checkpoint is
/// committed: until then they may be the user's only copy.
class Moves {
 public:
  explicit Moves(std::string source_directory) : source_directory_(std::move(source_directory)) {}

  /// The jobs must outlive this object. Links, checksums and fsyncs. A file that has other hard
  /// links already, is reached through a symbolic link or lies on another file system is copied
  /// instead.
  Result<void> bring(std::span<FileJob> jobs, const std::string& checkpoint_directory);

  /// Takes the second names back.
  void undo();

 private:
  Result<void> bring_batch(std::span<FileJob> jobs, std::uint64_t target_device);
  bool is_reached_through_link(const std::string& name) const;

  std::string source_directory_;
  std::vector<const FileJob*> linked_;
};

}  // namespace headway::storage
