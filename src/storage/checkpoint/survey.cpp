#include "storage/checkpoint/survey.hpp"

#include "core/location.hpp"
#include "storage/remote/remote.hpp"
#include "storage/storage.hpp"

#include <optional>

namespace headway::storage {

namespace {

/// The bucket of a URL, if it is not there. A store lists a missing one as an empty one.
std::optional<std::string> missing_bucket(const std::string& location) {
  const std::string_view scheme = scheme_of(location);
  if (scheme != "s3" && scheme != "gs" && scheme != "gcs") return std::nullopt;
  const Result<Remote> place = open_remote(location);
  if (!place) return std::nullopt;
  const std::string bucket = place->path.substr(0, place->path.find('/'));
  const Result<Entry> there = place->store.info(bucket);
  if (there || there.error().kind != ErrorKind::not_found) return std::nullopt;
  return place->store.shown(bucket);
}

Error neither(const std::string& location) {
  if (const std::optional<std::string> bucket = missing_bucket(location)) {
    return Error{ErrorKind::not_found, shown_location(location) + " cannot be read: there is no bucket " + *bucket};
  }
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
