#pragma once

#include "engine/engine.hpp"
#include "node/resource_ledger.hpp"

#include <deque>
#include <functional>

namespace headway::engine {

/// The nodes that there are: this machine, and those whose agents have joined. Runs that do not fit beside each other wait their turn,
/// first come, first served: a large request is not starved by small ones behind it.
class NodePool : public Engine {
 public:
  /// `may_grow`: nodes may join, so that what is too large for those that are there waits for more.
  explicit NodePool(bool may_grow = false) : may_grow_(may_grow) {}

  void add(node::NodeResources node);
  /// Nothing is given on it any more, and what was is not given back to it.
  void remove(const std::string& node_id);
  /// Nothing new is given on it; what holders have there they keep.
  void drain(const std::string& node_id);
  /// Called whenever holders may be able to have more than before.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

  void acquire(std::int64_t holder, const Wanted& wanted, Answers answers) override;
  void release(std::int64_t holder) override;
  int possible(std::int64_t holder, const Wanted& wanted) const override;
  Result<void> check_possible(const Wanted& wanted) const override;
  Resources total() const override;
  Resources available() const override;
  std::vector<node::NodeResources> nodes() const;

 private:
  struct Node {
    node::ResourceLedger ledger;
    bool draining = false;
  };
  struct Request {
    std::int64_t holder = 0;
    Wanted wanted;
    Answers answers;
    bool told_pending = false;
  };
  using Rooms = std::vector<Room>;
  struct Places {
    std::vector<int> workers;  ///< By node, how many.
    std::vector<int> node_of;  ///< By worker; empty when it does not matter which goes where.
  };

  /// The room that each node has now for a claim.
  Rooms rooms(const Wanted& wanted) const;
  std::optional<Places> places(const Rooms& rooms, const Wanted& wanted, int workers) const;
  std::optional<Places> best(const Rooms& rooms, const Wanted& wanted) const;
  std::optional<Grant> grant(std::int64_t holder, const Wanted& wanted);
  std::optional<Grant> grant_workers(std::int64_t holder, const Wanted& wanted);
  bool give_back(std::int64_t holder);
  bool serve(Request& request);
  bool placeable(const Wanted& wanted) const;
  bool placeable_beside(std::int64_t holder, const Wanted& wanted) const;
  bool goes_before(const Request& request, std::int64_t holder) const;
  void serve_queue();
  void changed() const;
  std::string there_is() const;

  bool may_grow_ = false;
  std::vector<Node> nodes_;  ///< In the order of their joining.
  std::deque<Request> queue_;
  std::function<void()> changed_;
};

}  // namespace headway::engine
