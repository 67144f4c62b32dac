#pragma once

#include "storage/checkpoint/artifact_copier.hpp"
#include "wire/session_messages.hpp"

#include <optional>
#include <stop_token>
#include <string>

namespace headway::worker {

/// Brings what the ranks of a machine that is not the driver's wrote into their working directory
/// to the run's artifacts/. Lives in a separate process there, because ranks may be dead when it is
/// needed. One thread.
class ArtifactCarrier {
 public:
  ArtifactCarrier(const wire::StartSession& context, const wire::ArtifactRole& role);

  /// What is new since the last time; the first error. Nothing where the directory is the driver's
  /// own, on shared storage: the driver's copy has it all. Ends early, with an error, when `stop`
  /// asks for it.
  std::optional<std::string> bring(const std::stop_token& stop);
  /// Removes the directory, unless it is the driver's, and what is empty above it.
  void remove_directory() const;

 private:
  /// Whether a driver that lives has locked it.
  bool is_drivers() const;

  std::string directory_;
  storage::ArtifactCopier copier_;
};

}  // namespace headway::worker
