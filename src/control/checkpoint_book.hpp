#pragma once

#include "control/run_outcome.hpp"
#include "core/config.hpp"
#include "core/manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Which checkpoints of a run are committed, which are kept, and which may go. Something is given up only after something newer
/// is committed, and the newest is never given up.
class CheckpointBook {
 public:
  explicit CheckpointBook(CheckpointConfig config) : config_(std::move(config)) {}

  /// "checkpoint_000007": a name that this run has not used, and that nothing had when the run was taken up.
  std::string next_name();
  std::int64_t names_given() const { return names_given_; }

  struct Verdict {
    std::vector<std::string> to_delete;
    std::optional<std::string> warning;  ///< Once a run: the score is missing or no number.
  };
  /// Notes a commit and says what is no longer kept.
  Verdict commit(std::string name, JsonObject metrics);

  /// Takes up an earlier run's checkpoints, in order of commit, and says which of them are kept no longer: the driver may have died
  /// before it deleted them, and the configuration may be another now. `names` are taken, by whatever it is.
  std::vector<std::string> take_up(const std::vector<Manifest>& checkpoints, std::int64_t names_given,
                                   const std::vector<std::string>& names);

  const std::vector<KeptCheckpoint>& kept() const { return kept_; }
  std::optional<std::string> newest() const;

 private:
  /// Worse first: no score, then by score, then the older.
  bool worse(const KeptCheckpoint& a, const KeptCheckpoint& b) const;
  std::optional<double> score(const KeptCheckpoint& checkpoint) const;
  /// Strikes out, and names, what num_to_keep does not keep.
  std::vector<std::string> retire();

  CheckpointConfig config_;
  std::vector<KeptCheckpoint> kept_;  ///< In order of commit.
  std::int64_t names_given_ = 0;
  std::int64_t commits_ = 0;
  bool warned_ = false;
};

}  // namespace headway::control
