#pragma once

#include "control/commands.hpp"
#include "sim/stage.hpp"
#include "sim/workers.hpp"

#include <cstdint>
#include <optional>

namespace headway::sim {

/// The ranks' working directories, and the copies of them that go to storage.
class Artifacts {
 public:
  Artifacts(Stage& stage, const Workers& workers) : stage_(&stage), workers_(&workers) {}

  void sync(const control::SyncArtifacts& command);
  void stop(const control::StopSync& command);
  void leave(const control::LeaveWorkingDirectory& command) const;
  void driver_died();
  /// What is brought to the run's folder from now on, and what was, is nowhere.
  void folder_lost() { lost_ = true; }

 private:
  Stage* stage_;
  const Workers* workers_;
  bool lost_ = false;
  int driver_ = 0;
  std::optional<std::int64_t> under_way_;
  bool complete_ = false;  ///< All that the ranks wrote is copied.
};

}  // namespace headway::sim
