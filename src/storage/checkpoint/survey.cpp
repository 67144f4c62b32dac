#include "storage/checkpoint/survey.hpp"

#include "core/location.hpp"
#include "storage/storage.hpp"

namespace headway::storage {

namespace {

Error neither(const std::string& location) {
  return Error{ErrorKind::not_found, shown_location(location) + " is neither a checkpoint of Headway's (no " +
                                         std::string(manifest_name) + " in it) nor a run's folder (no run.json in it)"};
}

Result<Survey> survey_run(const std::string& location) {
  Survey found;
  found.location = location;
  std::vector<Error> unreadable;
  Result<std::vector<Manifest>> manifests = list_checkpoints(location, &unreadable);
  if (!manifests) return manifests.error().kind == ErrorKind::not_found ? neither(location) : manifests.error();
  for (Error& error : unreadable) {
    if (error.kind != ErrorKind::corrupted) return std::move(error);
    found.unreadable.push_back(std::move(error.message));
  }
  found.checkpoints = std::move(*manifests);
  if (!found.checkpoints.empty() || !found.unreadable.empty()) return found;
  const Result<std::string> journal = read_file(join_location(location, "run.json"));
  if (journal) return found;
  return journal.error().kind == ErrorKind::not_found ? neither(location) : journal.error();
}

}  // namespace

Result<Survey> survey(const std::string& location) {
  Result<Manifest> manifest = read_manifest(location);
  if (!manifest && manifest.error().kind == ErrorKind::not_found) return survey_run(location);
  Survey found;
  found.location = location;
  found.kind = PlaceKind::checkpoint;
  if (manifest) {
    manifest->checkpoint = name_of(location);
    found.checkpoints.push_back(std::move(*manifest));
  } else if (manifest.error().kind == ErrorKind::corrupted) {
    found.unreadable.push_back(manifest.error().message);
  } else {
    return manifest.error();
  }
  return found;
}

}  // namespace headway::storage
