#pragma once

#include "control/events.hpp"
#include "control/worker_group.hpp"
#include "core/preemption.hpp"
#include "core/time.hpp"

#include <map>
#include <optional>
#include <string>

namespace headway::control {

/// The nodes that are being taken away from this run, and how long its ranks may go on: until a
/// node's deadline, and `preemption_grace_s` longer those that are not there. And the driver, with
/// which all of them go.
class PreemptionWatch {
 public:
  explicit PreemptionWatch(double grace_s) : grace_(from_seconds(grace_s)) {}

  /// An attempt has begun.
  void begin() { bereaved_ = false; }
  /// A node's notice. A second one for the same node says nothing new.
  void leaves(const NodePreempted& notice, Time now);
  bool leaving(const std::string& node_id) const { return nodes_.contains(node_id); }

  /// The driver's notice. A second one says nothing new.
  void driver_leaves(const DriverPreempted& notice, Time now);
  bool driver_leaving() const { return driver_.has_value(); }

  /// After that notice a checkpoint was stored with all that the ranks had reached.
  void saved(const std::string& checkpoint) { saved_ = checkpoint; }
  const std::optional<std::string>& saved() const { return saved_; }

  /// What the group's ranks hear; none when none of them has to leave.
  std::optional<PreemptionInfo> info(const WorkerGroup& group) const;
  /// When a group with ranks on this node, which is leaving, has to end.
  Time end_of(const std::string& node_id) const { return nodes_.at(node_id).deadline + grace_; }
  /// Whether ranks may outlive others that are gone with their node.
  bool has_grace() const { return grace_ > Duration::zero(); }

  /// A rank of the attempt is gone with such a node. What other ranks fail with from then on is its
  /// effect.
  void bereave() { bereaved_ = true; }
  bool bereaved() const { return bereaved_; }

 private:
  struct Leaving {
    Time deadline;
    std::int64_t deadline_ms = 0;
  };

  Duration grace_;
  std::map<std::string, Leaving> nodes_;
  std::optional<Leaving> driver_;
  std::optional<std::string> saved_;
  bool bereaved_ = false;
};

}  // namespace headway::control
