#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// The checkpoints that are kept no longer and not deleted yet. What cannot be deleted is tried
/// again before the next checkpoint is begun (which may bear its name), at the next commit and at
/// the end of the run, and never more.
class DeletionList {
 public:
  void add(std::string name, std::string reason);

  /// The name is used anew: what bears it is not to be deleted any more. A deletion that is under
  /// way comes before the new use.
  void forget(const std::string& name);

  /// The commands for all that nobody works on; from now on somebody does.
  std::vector<DeleteCheckpoint> begin();

  /// Takes the outcome. Returns what the user should be warned of: a first failure, and a last one.
  std::optional<std::string> end(const CheckpointDeleted& outcome, bool last_try);

  /// Whether an outcome is still to come.
  bool under_way() const;

  /// For the journal, in the order in which they were given up.
  std::vector<std::string> names() const;

 private:
  struct Entry {
    DeleteCheckpoint command;
    bool under_way = false;
    bool failed = false;  ///< And a warning said so.
  };
  std::vector<Entry> entries_;
};

}  // namespace headway::control
