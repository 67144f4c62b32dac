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

 private:
  Stage* stage_;
  const Workers* workers_;
  std::optional<std::int64_t> under_way_;
  bool complete_ = false;  ///< All that the ranks wrote is copied.
};

}  // namespace headway::sim
