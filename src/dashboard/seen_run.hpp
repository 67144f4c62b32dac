#pragma once

#include "control/journal.hpp"
#include "control/run_view.hpp"
#include "dashboard/verdict.hpp"

#include <memory>
#include <optional>
#include <string>

namespace headway::dashboard {

/// A run as a site knows it at one moment.
struct SeenRun {
  std::string id;
  std::string path;      ///< Its folder, for people.
  std::string location;  ///< Its folder.
  std::string files;     ///< Where its small files are now: the folder, or its local side.
  std::shared_ptr<const control::RunView> view;
  VerdictContext context;
  std::optional<std::string> experiment;  ///< Whose trial it is.
};

/// The view of a run that is not at work, as far as its journal tells.
control::RunView view_of(const control::Journal& journal);

/// The run in a folder, from run.json and, while a driver of this machine or another one has it at
/// work, from status.json. Errors: `not_found` when it holds none; `corrupted`; those of storage.
Result<SeenRun> run_in(const std::string& location, const std::string& id);

}  // namespace headway::dashboard
