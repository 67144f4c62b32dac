#pragma once

#include "storage/remote/remote.hpp"
#include "storage/storage.hpp"

/// The contract of storage.hpp on filesystems that have no rename: object stores, and whatever
/// Python has.
///
/// A checkpoint is begun when a marker object lies beside its directory, in the run's:
/// `.headway.begun.<name>`. It is committed when, and only when, its manifest is there and whole;
/// it is written last, as one object. So a marker beside an unreadable manifest is a checkpoint
/// that was begun, and a marker beside a whole one changes nothing. The marker lies outside so that
/// a directory can be removed in bulk, in any order: the marker goes after it, and until then a
/// sweep ends the work.
namespace headway::storage::remote {

/// Two attempts within a few seconds: somebody waits for the answer. Errors name
/// RunConfig.storage_path.
Result<void> probe(const Remote& run);
Result<std::vector<FileRecord>> list_files(const Remote& directory);
Result<void> begin_checkpoint(const Remote& checkpoint);
/// At most `upload_memory_bytes` of parts are held at a time, whatever the files' number and sizes,
/// and a piece for each of `uploads_max` files that are sent at once.
Result<std::vector<FileRecord>> upload(const std::string& source_directory, const Remote& checkpoint,
                                       const std::vector<std::string>& names, int rank, const OnBytes& on_bytes = {},
                                       Target target = Target::begun);
Result<void> commit(const Remote& checkpoint, const Manifest& manifest);
Result<void> commit_placed(const Remote& checkpoint, Manifest manifest);
Result<Manifest> read_manifest(const Remote& checkpoint);
Result<void> remove_checkpoint(const Remote& checkpoint);
Result<std::vector<Manifest>> list_checkpoints(const Remote& run, std::vector<Error>* unreadable);
Result<void> discard_unfinished(const Remote& checkpoint);
Result<std::vector<std::string>> sweep(const Remote& run);
Result<std::vector<FileRecord>> download(const Remote& directory, const std::string& target_directory,
                                         const OnBytes& on_bytes = {});

inline constexpr std::size_t uploads_max = 4;
inline constexpr std::size_t upload_memory_bytes = std::size_t{128} << 20;

}  // namespace headway::storage::remote
