#pragma once

#include "core/manifest.hpp"
#include "storage/progress.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Checkpoints on storage: what a run keeps them with. Where something lies is a *location*
/// (core/location.hpp): an absolute path, a URL, or a place on a filesystem that was registered
/// (storage/remote/remote.hpp). Local and mounted file systems are served by POSIX calls
/// (storage/local/local.hpp), all others through a few primitives (storage/files.hpp,
/// storage/remote/remote_checkpoint.hpp).
///
/// All functions block; they are called from a storage thread of the driver or from the training
/// thread of a worker, never from an I/O thread. On remote storage `unavailable` comes after the
/// last retry (storage/remote/retry.hpp); and it may be `refused` instead.
///
/// The order that makes a checkpoint durable (Law 4): `begin_checkpoint`, then every rank's
/// `upload`, then `commit`.
namespace headway::storage {

/// Makes `run_directory` (with parents) and proves that it can be written: writes, reads and
/// deletes a marker file. Remote storage gets two attempts within a few seconds, as somebody waits
/// for the answer.
/// Errors: `unavailable` or `refused`, naming the path and the system's reason (read-only, no
/// space, not a directory, permission).
Result<void> probe(const std::string& run_directory);

/// Every regular file below `directory`, as relative name and size, sorted by name. Symbolic links
/// to files count as the files they point to; links to directories are followed, a loop of them is
/// an error. Empty directories are not kept. Headway's own files at the top (manifest, marker,
/// temporaries) are left out, so that a committed checkpoint can be reported again.
/// Errors: `invalid_argument` when `directory` is missing or not a directory, and for a link that
/// leads nowhere, a FIFO, socket or device, or a name that `check_file_name` refuses, naming the
/// path; also for a link that leads to `apart_from`, a local directory, or above it.
Result<std::vector<FileRecord>> list_files(const std::string& directory, const std::string& apart_from = "");

/// Makes `checkpoint_directory` with the begun marker in it; the run's directory must be there. A
/// begun and uncommitted directory of ours is swept first.
/// Errors: `already_exists` when a committed checkpoint, or anything that is not ours, is there.
Result<void> begin_checkpoint(const std::string& checkpoint_directory);

enum class Transfer {
  copy,
  link  ///< For directories that are handed over: nobody writes to their files any more.
};

enum class Target {
  begun,  ///< A checkpoint that `begin_checkpoint` has begun.
  placed  ///< A directory of the user's, which may be missing; `commit_placed` commits it.
};

/// Brings the named files from `source_directory` into `checkpoint_directory`, in parallel,
/// checksummed on the way, and makes them durable: on return each file and each directory that
/// holds one is fsynced. `link` gives a file a second name where source and target are on one file
/// system (checksumming by a read of the page cache), and copies what is elsewhere, has several
/// names already, or is reached through a symbolic link. The sources stay: they are the caller's to
/// remove once the checkpoint is committed. When several ranks upload one name, the last one's file
/// stays, whole. `on_bytes` counts what is copied, not links. Returns the records with size and
/// checksum, in the order of `names`; `rank` is written into each.
/// Errors: `unavailable` (disk full, permission), naming the file; `invalid_argument` when a named
/// file has vanished, is not a regular file or became shorter meanwhile; `not_found` when the
/// checkpoint has not been begun, or not where this node sees it. After an error the sources are
/// where they were; what was partly written is only inside the begun directory.
Result<std::vector<FileRecord>> upload(const std::string& source_directory, const std::string& checkpoint_directory,
                                       const std::vector<std::string>& names, int rank, Transfer transfer,
                                       const OnBytes& on_bytes = {}, Target target = Target::begun);

/// Commits: writes the manifest beside the files (temporary name, fsync, rename), fsyncs the
/// directory and its parent, and removes the begun marker. After a return without error the
/// checkpoint survives a loss of power.
/// Errors: `already_exists` when it is committed; `invalid_argument` when it has not been begun or
/// the manifest has a bad or double name; `unavailable`. After an error from an fsync it may be
/// committed all the same: `read_manifest` tells.
Result<void> commit(const std::string& checkpoint_directory, const Manifest& manifest);

/// Commits what the user has put into `checkpoint_directory`: the files that are there, even if
/// none, are listed with their sizes and without checksums, and the manifest is written as `commit`
/// does. They are never swept. Files that were uploaded to the directory are in `manifest.files`
/// with their checksums, which are kept.
/// A directory that is not there is made; a manifest that is there is replaced.
/// Errors: `already_exists` when a checkpoint of ours was begun there; `invalid_argument` as
/// `list_files`; `unavailable`.
Result<void> commit_placed(const std::string& checkpoint_directory, Manifest manifest);

/// The name of `directory` in `run_directory`, of which it must be a direct child; it need not
/// exist. Symbolic links are followed.
/// Errors: `invalid_argument`.
Result<std::string> name_in_run(const std::string& run_directory, const std::string& directory);

/// The manifest of a committed checkpoint. Errors: `not_found` without one; `corrupted`, naming the
/// file, when it is truncated, of an unknown version or names a file badly or twice.
Result<Manifest> read_manifest(const std::string& checkpoint_directory);

/// Reads every file again and compares size and checksum with the manifest, as `examine`
/// (storage/checkpoint/verification.hpp) does.
/// Errors: `corrupted`, naming the first bad file, what was expected and what was found.
Result<void> verify(const std::string& checkpoint_directory);

/// Removes a checkpoint, committed or begun: it is renamed away, from then on it is not listed and
/// a sweep takes what may be left, and then deleted. Another call goes on where one has failed.
/// Errors: `not_found` when nothing of ours is there.
Result<void> remove_checkpoint(const std::string& checkpoint_directory);

/// The committed checkpoints of a run, by their index, oldest first; `checkpoint` is the
/// directory's name as it is now. Directories without a manifest and symbolic links are not listed.
/// A manifest that can't be read is an error, or, when `unreadable` is given, is added to it while
/// the others are listed.
Result<std::vector<Manifest>> list_checkpoints(const std::string& run_directory,
                                               std::vector<Error>* unreadable = nullptr);

/// Removes one checkpoint that was begun and not committed; leaves anything else alone.
Result<void> discard_unfinished(const std::string& checkpoint_directory);

/// Removes what was begun and never committed in a run, and temporaries of ours (`part_prefix`).
/// Nothing else is touched, symbolic links are not followed. Only while nobody writes to the run.
/// Returns the names removed.
Result<std::vector<std::string>> sweep(const std::string& run_directory);

/// Removes a directory of the user's that was handed over, with all that is in it. One that is gone
/// already is no error.
Result<void> remove_directory(const std::string& directory);

/// The whole of a small file. Errors: `not_found`.
Result<std::string> read_file(const std::string& path);

/// Replaces a small file whole and durably: temporary name, fsync, rename, fsync of the directory;
/// on remote storage as one object.
Result<void> replace_file(const std::string& path, std::string_view content);

/// Brings a local file to a location, with the directories above it where there are such.
/// Errors: `invalid_argument` when the file can't be read, else as `upload`.
Result<void> put_file(const std::string& local_file, const std::string& location);

/// Copies a checkpoint's (or any directory's) files, as `list_files` names them, into a local
/// directory, made when missing. Files of the same names there are replaced. Not fsynced. Returns
/// what was read, with sizes and checksums. Nothing is compared: `fetch`
/// (storage/checkpoint/fetch.hpp) does that. `on_bytes` may count bytes twice, when reading them
/// was retried.
/// Errors: `not_found` when there is no such directory.
Result<std::vector<FileRecord>> download(const std::string& directory, const std::string& target_directory,
                                         const OnBytes& on_bytes = {});

}  // namespace headway::storage
