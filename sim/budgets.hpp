#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"
#include "control/failure_policy.hpp"
#include "core/config.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::sim {

/// Why attempts end, what each end counts as, by an independent model, and whether another attempt
/// is allowed. What the controller says of preemptions and of growth must be so.
class Budgets {
 public:
  explicit Budgets(const ScalingConfig& scaling, const FailureConfig& allowed) : scaling_(scaling), allowed_(allowed) {}

  /// Whether this ends a group so that a larger one goes on.
  static bool is_growth(const control::Command& command);

  /// An attempt begins: the one before has ended as another attempt may follow.
  void begins(const control::StartWorkers& command);
  void trains() { training_ = trained_ = true; }
  void ends(const control::EndWorkers& command, int world_size);
  void hears(const control::SetupFinished& event);
  void hears(const control::CapacitySeen& event) { capacity_ = event.workers; }
  void hears(const control::NodePreempted& event) { leaving_.insert(event.node_id); }
  void hears(const control::DriverPreempted&) { driver_leaves_ = true; }
  void hears(const control::WorkerExited& event);
  void hears(const control::NodeLost& event, const std::set<int>& returned);

  /// The nodes of the current attempt that are being taken away, with their ranks.
  std::map<std::string, std::vector<int>> leaving() const;
  /// Whether the current attempt trains, and none of its nodes is about to go.
  bool may_save() const;
  /// Whether the current attempt's end may be followed by another attempt.
  bool may_restart() const;
  /// Whether the current attempt has died, even at its start: it neither had to leave a node nor
  /// grew.
  bool died() const;
  /// "3 failures, of which 2 are allowed": before this attempt.
  std::string words() const;

 private:
  using Cause = std::optional<control::FailureCause>;
  Cause cause() const;
  int limit() const;
  int count() const { return counts_.at(static_cast<std::size_t>(*cause())); }

  ScalingConfig scaling_;
  FailureConfig allowed_;
  std::array<int, 3> counts_{};
  std::set<std::string> leaving_;
  std::map<int, std::string> nodes_;  ///< Of the current attempt, by rank.
  std::set<int> gone_;                ///< Ranks of the current attempt whose processes have ended.
  bool driver_leaves_ = false;
  int attempt_ = 0;
  int capacity_ = 0;       ///< As it was seen last.
  bool trained_ = false;   ///< An attempt has come to its training.
  bool training_ = false;  ///< The current one has.
  bool bereaved_ = false;  ///< It has lost a rank with a node that was leaving.
  bool hook_failed_ = false;
  std::optional<std::string> reason_;  ///< Why the current one's processes are to end.
};

}  // namespace headway::sim
