#pragma once

#include "core/time.hpp"
#include "engine/demand.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::engine {

/// Decides when a provider hears of a demand, and which of its nodes it gets back. Knows no clock:
/// times are handed in.
class NodeSupply {
 public:
  struct Settings {
    Duration demand_pause = std::chrono::milliseconds(200);  ///< At least, between two demands.
    Duration idle_limit = std::chrono::minutes(1);           ///< So long an idle node is kept.
  };
  /// What is to be done now.
  struct Orders {
    std::optional<Demand> want;          ///< Unset: the provider knows it.
    std::vector<std::string> give_back;  ///< Each is named once.
    std::optional<Time> next;            ///< When to ask again, if nothing changes before.
  };

  explicit NodeSupply(Settings settings) : settings_(settings) {}

  /// A node that the provider has brought.
  void joined(const std::string& node_id) { own_.emplace(node_id, Own()); }
  /// False when it was no node of the provider's.
  bool left(const std::string& node_id) { return own_.erase(node_id) > 0; }

  /// `idle`: the nodes that nobody needs, whoever has brought them.
  Orders look(Time now, Demand demand, const std::vector<std::string>& idle);

 private:
  struct Own {
    std::optional<Time> idle_since;
    bool given_back = false;
  };

  Settings settings_;
  Demand told_;
  std::optional<Time> told_at_;
  std::map<std::string, Own> own_;
};

}  // namespace headway::engine
