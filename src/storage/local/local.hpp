#pragma once

#include "storage/storage.hpp"

/// The contract of storage.hpp on local and mounted file systems, by POSIX calls. All locations
/// here are absolute paths.
namespace headway::storage::local {

Result<void> probe(const std::string& run_directory);
Result<std::vector<FileRecord>> list_files(const std::string& directory, const std::string& apart_from = "");
Result<void> begin_checkpoint(const std::string& checkpoint_directory);
Result<std::vector<FileRecord>> upload(const std::string& source_directory, const std::string& checkpoint_directory,
                                       const std::vector<std::string>& names, int rank, Transfer transfer,
                                       const OnBytes& on_bytes, Target target);
Result<void> commit(const std::string& checkpoint_directory, const Manifest& manifest);
Result<void> commit_placed(const std::string& checkpoint_directory, Manifest manifest);
Result<std::string> name_in_run(const std::string& run_directory, const std::string& directory);
Result<Manifest> read_manifest(const std::string& checkpoint_directory);
Result<void> remove_checkpoint(const std::string& checkpoint_directory);
Result<std::vector<Manifest>> list_checkpoints(const std::string& run_directory, std::vector<Error>* unreadable);
Result<void> discard_unfinished(const std::string& checkpoint_directory);
Result<std::vector<std::string>> sweep(const std::string& run_directory);
Result<void> replace_file(const std::string& path, std::string_view content);
Result<std::vector<FileRecord>> download(const std::string& directory, const std::string& target_directory,
                                         const OnBytes& on_bytes);

}  // namespace headway::storage::local
