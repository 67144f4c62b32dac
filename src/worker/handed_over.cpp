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
  const auto holds = [&](const fs::path& place) {
    const fs::path found = fs::weakly_canonical(place, failure);
    return std::mismatch(given.begin(), given.end(), found.begin(), found.end()).first == given.end();
  };
  return !holds(fs::current_path(failure)) && (is_remote(run_directory) || !holds(run_directory));
}

}  // namespace headway::worker
