#pragma once

#include "control/run_outcome.hpp"
#include "core/config.hpp"
#include "core/manifest.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::control {

/// Which checkpoints of a run are committed, which are kept, and which may go. Something is given
/// up only after something newer is committed, and the newest is never given up, nor one whose
/// validation is open or that is pinned.
class CheckpointBook {
 public:
  explicit CheckpointBook(CheckpointConfig config) : config_(std::move(config)) {}

  /// "checkpoint_000007": a name that this run has not used, and that nothing had when the run was
  /// taken up.
  std::string next_name();
  std::int64_t names_given() const { return names_given_; }

  struct Verdict {
    std::vector<std::string> to_delete;
    std::optional<std::string> warning;  ///< Once a run: the score is missing or no number.
  };
  /// Notes a commit and says what is no longer kept. `report` is the report's index in the run;
  /// `pending`: it is to be validated.
  Verdict commit(std::string name, JsonObject metrics, std::int64_t report = 0, bool pending = false);

  /// Notes what became of a checkpoint's validation: its metrics are added, and count for the
  /// score. Nothing for one that is not kept, or was reported again.
  Verdict settle(const std::string& name, std::int64_t report, CheckpointStatus status, const JsonObject& metrics);

  /// These are kept, and no others by an earlier call. Says what is no longer kept.
  std::vector<std::string> pin(const std::vector<std::string>& names);

  /// Takes up an earlier run's checkpoints, in order of commit, and says which of them are kept no
  /// longer: the driver may have died before it deleted them, and the configuration may be another
  /// now. `known` is what the journal says of them: which are validated. One that was to be
  /// validated and is not in there with an outcome is pending. `names` are taken, by whatever it
  /// is.
  std::vector<std::string> take_up(const std::vector<Manifest>& checkpoints, const std::vector<KeptCheckpoint>& known,
                                   std::int64_t names_given, const std::vector<std::string>& names);

  const std::vector<KeptCheckpoint>& kept() const { return kept_; }
  /// The same as a list that never changes: the one that the last call returned, unless the book
  /// has changed.
  std::shared_ptr<const std::vector<KeptCheckpoint>> shared() const;
  std::optional<std::string> newest() const;

 private:
  /// Worse first: no score, then by score, then the older.
  bool worse(const KeptCheckpoint& a, const KeptCheckpoint& b) const;
  std::optional<double> score(const KeptCheckpoint& checkpoint) const;
  /// Strikes out, and names, what num_to_keep does not keep.
  std::vector<std::string> retire();
  /// Once a run: the score is missing in a checkpoint's metrics.
  std::optional<std::string> score_warning(const KeptCheckpoint& checkpoint);

  CheckpointConfig config_;
  std::vector<KeptCheckpoint> kept_;  ///< In order of commit.
  /// None since the last change.
  mutable std::shared_ptr<const std::vector<KeptCheckpoint>> shared_;
  std::set<std::string> pinned_;
  std::int64_t names_given_ = 0;
  std::int64_t commits_ = 0;
  bool warned_ = false;
};

}  // namespace headway::control
