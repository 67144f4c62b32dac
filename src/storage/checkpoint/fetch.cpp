#include "storage/checkpoint/fetch.hpp"

#include "storage/checkpoint/verification.hpp"
#include "storage/storage.hpp"

namespace headway::storage {

Result<void> fetch(const std::string& location, const std::string& target_directory, const OnBytes& on_bytes) {
  const Result<Manifest> manifest = read_manifest_or_offer(location);
  // A directory that is no committed checkpoint has nothing to compare with.
  if (!manifest && manifest.error().kind != ErrorKind::not_found) return manifest.error();
  const Result<std::vector<FileRecord>> files = download(location, target_directory, on_bytes);
  if (!files) return files.error();
  if (!manifest) return {};
  const std::vector<Damage> damaged = compare(location, *manifest, *files);
  return damaged.empty() ? Result<void>() : damage_error(location, damaged.front());
}

}  // namespace headway::storage
