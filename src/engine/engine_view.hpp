#pragma once

#include "node/machine_use.hpp"
#include "node/resource_ledger.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::engine {

/// A node, for those who look.
struct NodeView {
  node::NodeResources node;
  Resources available;                ///< What nobody holds.
  bool leaving = false;               ///< Nothing new is given there.
  std::optional<node::Use> use = {};  ///< Unset: not known, at least yet.
};
BOOST_DESCRIBE_STRUCT(NodeView, (), (node, available, leaving, use))

/// A request that waits.
struct WaitingView {
  std::int64_t holder = 0;  ///< A run's number; a negative one is a validation's or a nested run's.
  std::string wanted;       ///< In words: "2 workers with {GPU: 1} each".
  bool for_nodes = false;   ///< It waits for nodes to join; else for others to give back.
};
BOOST_DESCRIBE_STRUCT(WaitingView, (), (holder, wanted, for_nodes))

/// What an engine has, and who waits for it. An immutable value.
struct EngineView {
  static constexpr std::size_t waiting_max = 256;
  std::vector<NodeView> nodes;  ///< In the order of their joining.
  /// In the order in which they are served; at most `waiting_max`.
  std::vector<WaitingView> waiting;
  std::int64_t waiting_count = 0;  ///< All of them.
};
BOOST_DESCRIBE_STRUCT(EngineView, (), (nodes, waiting, waiting_count))

}  // namespace headway::engine
