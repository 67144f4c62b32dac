#include "worker/handed_over.hpp"

#include "core/location.hpp"
#include "core/manifest.hpp"

#include <algorithm>
#include <filesystem>

namespace headway::worker {

namespace fs = std::filesystem;

bool may_be_handed_over(const std::string& directory, const std::string& run_directory) {
  if (is_remote(directory)) return false;
  std::error_code failure;
  const fs::path given = fs::weakly_canonical(directory, failure);
  if (failure) return false;
  for (fs::path above = given; above != above.root_path(); above = above.parent_path()) {
    if (fs::exists(above / manifest_name, failure)) return false;
  }
  return !contains(directory, fs::current_path(failure).string()) && !contains(directory, run_directory);
}

bool contains(const std::string& directory, const std::string& place) {
  if (is_remote(directory) || is_remote(place)) return false;
  std::error_code failure;
  fs::path given = fs::weakly_canonical(directory, failure);
  if (!given.has_filename()) given = given.parent_path();  // Written with a '/' at its end.
  const fs::path found = fs::weakly_canonical(place, failure);
  return !failure && std::mismatch(given.begin(), given.end(), found.begin(), found.end()).first == given.end();
}

}  // namespace headway::worker
