#include "storage/disk/directory.hpp"
#include "storage/disk/uploaded_files.hpp"
#include "storage/local/local.hpp"
#include "storage/local/manifest_file.hpp"
#include "storage/storage.hpp"

#include <filesystem>

/// Checkpoints whose files the user has put into the run's folder himself.
namespace headway::storage {

Result<std::string> local::name_in_run(const std::string& run_directory, const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path run = fs::weakly_canonical(run_directory, failure);
  const fs::path found = failure ? fs::path() : fs::weakly_canonical(directory, failure);
  std::string name = found.filename().string();
  if (name.empty() && found.has_parent_path()) name = found.parent_path().filename().string();
  if (failure || name.empty() || (run / name != found && run / name / "" != found)) {
    return Error{ErrorKind::invalid_argument, "the directory " + directory + " is not in the run's folder " +
                                                  run_directory + "; allowed: a directory right in it"};
  }
  return name;
}

Result<void> local::commit_placed(const std::string& checkpoint_directory, Manifest manifest) {
  if (Result<void> made = make_directory(checkpoint_directory); !made) return made;
  const Result<Standing> standing = standing_of(checkpoint_directory);
  if (!standing) return standing.error();
  if (*standing == Standing::begun) {
    return Error{ErrorKind::already_exists, checkpoint_directory + " holds a checkpoint that is being stored already"};
  }
  Result<std::vector<FileRecord>> files = list_files(checkpoint_directory);
  if (!files) return files.error();
  keep_checksums(manifest.files, *files);
  manifest.files = std::move(*files);
  if (Result<void> valid = check_manifest(manifest, checkpoint_directory, ErrorKind::invalid_argument); !valid)
    return valid;
  return write_manifest(checkpoint_directory, manifest);
}

}  // namespace headway::storage
