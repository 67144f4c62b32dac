#pragma once

#include "core/manifest.hpp"

#include <string>
#include <vector>

namespace headway::storage {

enum class PlaceKind {
  checkpoint,  ///< A committed checkpoint's directory.
  run          ///< A run's folder.
};
BOOST_DESCRIBE_ENUM(PlaceKind, checkpoint, run)

/// What lies at a location, as far as it can be found out without reading the checkpoints' files.
struct Survey {
  std::string location;
  PlaceKind kind = PlaceKind::run;
  std::vector<Manifest> checkpoints;  ///< The run's, oldest first, or the one.
  /// What is wrong with manifests that are damaged, each naming its file.
  std::vector<std::string> unreadable;
};
BOOST_DESCRIBE_STRUCT(Survey, (), (location, kind, checkpoints, unreadable))

/// Errors: `not_found` when it is neither a checkpoint nor a run's folder; `invalid_argument` when
/// a newer version of Headway wrote it; `unavailable`.
Result<Survey> survey(const std::string& location);

}  // namespace headway::storage
