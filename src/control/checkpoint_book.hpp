#pragma once

#include "control/run_outcome.hpp"
#include "core/config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Which checkpoints of a run are committed, which are kept, and which may go. Something is given up only after something newer
/// is committed, and the newest is never given up.
class CheckpointBook {
 public:
  explicit CheckpointBook(CheckpointConfig config) : config_(std::move(config)) {}

  /// "checkpoint_000007": a name that this run has not used.
  std::string next_name();

  struct Verdict {
    std::vector<std::string> to_delete;
    std::optional<std::string> warning;  ///< Once a run: the score is missing or no number.
  };
  /// Notes a commit and says what is no longer kept.
  Verdict commit(std::string name, JsonObject metrics);

  const std::vector<KeptCheckpoint>& kept() const { return kept_; }
  std::optional<std::string> newest() const;

 private:
  /// Worse first: no score, then by score, then the older.
  bool worse(const KeptCheckpoint& a, const KeptCheckpoint& b) const;
  std::optional<double> score(const KeptCheckpoint& checkpoint) const;

  CheckpointConfig config_;
  std::vector<KeptCheckpoint> kept_;  ///< In order of commit.
  std::int64_t names_given_ = 0;
  std::int64_t commits_ = 0;
  bool warned_ = false;
};

}  // namespace headway::control
