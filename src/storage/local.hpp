#pragma once

#include "core/manifest.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Checkpoints on a local (or mounted) POSIX file system. All functions block; they are called from a storage thread of the
/// driver or from the training thread of a worker, never from an I/O thread. All paths are absolute.
///
/// The order that makes a checkpoint durable (Law 4): `begin_checkpoint`, then every rank's `upload`, then `commit`.
namespace headway::storage {

/// Makes `run_directory` (with parents) and proves that it can be written: writes, reads and deletes a marker file.
/// Errors: `unavailable`, naming the path and the system's reason (read-only, no space, not a directory, permission).
Result<void> probe(const std::string& run_directory);

/// Every regular file below `directory`, as relative name and size, sorted by name. Symbolic links to files count as the files
/// they point to; links to directories are followed, a loop of them is an error. Empty directories are not kept.
/// Errors: `invalid_argument` when `directory` is missing or not a directory.
Result<std::vector<FileRecord>> list_files(const std::string& directory);

/// Makes `checkpoint_directory` with the begun marker in it. A begun and uncommitted directory of ours is swept first.
/// Errors: `already_exists` when a committed checkpoint, or anything that is not ours, is there.
Result<void> begin_checkpoint(const std::string& checkpoint_directory);

enum class Transfer { copy, move };

/// Brings the named files from `source_directory` into `checkpoint_directory`, in parallel, checksummed on the way, and makes them
/// durable: on return each file and each directory that holds one is fsynced. `move` renames where source and target are on one
/// file system (checksumming by a read of the page cache), else copies and deletes. Hard links are never used.
/// Returns the records with size and checksum; `rank` is written into each.
/// Errors: `unavailable` (disk full, permission), naming the file; `invalid_argument` when a named file has vanished.
Result<std::vector<FileRecord>> upload(const std::string& source_directory, const std::string& checkpoint_directory,
                                       const std::vector<std::string>& names, int rank, Transfer transfer);

/// Commits: writes the manifest beside the files (temporary name, fsync, rename), removes the begun marker, fsyncs the directory
/// and its parent. After a return without error the checkpoint survives a loss of power.
Result<void> commit(const std::string& checkpoint_directory, const Manifest& manifest);

/// The manifest of a committed checkpoint. Errors: `not_found` without one, `corrupted` when it can't be read.
Result<Manifest> read_manifest(const std::string& checkpoint_directory);

/// Reads every file again and compares size and checksum with the manifest.
/// Errors: `corrupted`, naming the first bad file, what was expected and what was found.
Result<void> verify(const std::string& checkpoint_directory);

/// Removes a checkpoint: the manifest first (from then on it is not listed), then the rest.
Result<void> remove_checkpoint(const std::string& checkpoint_directory);

/// The committed checkpoints of a run, by their index, oldest first. Directories without a manifest are not listed.
Result<std::vector<Manifest>> list_checkpoints(const std::string& run_directory);

/// Removes what was begun and never committed in a run. Nothing else is touched. Returns the names removed.
Result<std::vector<std::string>> sweep(const std::string& run_directory);

/// Replaces a small file whole and durably: temporary name, fsync, rename, fsync of the directory.
Result<void> replace_file(const std::string& path, std::string_view content);

/// Copies a checkpoint's (or any directory's) files into `target_directory`, which is made when missing. Not fsynced.
Result<void> download(const std::string& directory, const std::string& target_directory);

}  // namespace headway::storage
