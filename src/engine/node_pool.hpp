#pragma once

#include "engine/demand.hpp"
#include "engine/engine.hpp"
#include "engine/plan.hpp"
#include "node/resource_ledger.hpp"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <unordered_map>

namespace headway::engine {

/// The nodes that there are: this machine, and those whose agents have joined. Runs that do not fit
/// beside each other wait their turn, first come, first served: a large request is not starved by
/// small ones behind it. Who has to wait for nodes to join keeps nobody waiting for whom there is
/// capacity.
///
/// What a call costs grows with the nodes, except that one that leaves or is drained costs no more
/// among many. It does not grow with the number of workers that a
/// request asks for, and requests that wait are looked at again only when there is something new
/// for them (see `plans_made`).
class NodePool : public Engine {
 public:
  /// `may_grow`: nodes may join, so that what is too large for those that are there waits for more.
  explicit NodePool(bool may_grow = false) : may_grow_(may_grow) {}

  void add(node::NodeResources node) override;
  void remove(const std::string& node_id) override;
  void drain(const std::string& node_id) override;
  void on_change(std::function<void()> changed) override { changed_ = std::move(changed); }
  void acquire(std::int64_t holder, const Wanted& wanted, Answers answers) override;
  void release(std::int64_t holder) override;
  int possible(std::int64_t holder, const Wanted& wanted) const override;
  Result<void> check_possible(const Wanted& wanted) const override;
  Resources total() const override;
  Resources available() const override;
  std::vector<node::NodeResources> nodes() const override;
  EngineView view() const override;
  std::vector<SpareNode> spare() const override;
  void on_spare_change(std::function<void()> changed) override { spare_changed_ = std::move(changed); }
  void use_spare_of(std::set<std::string> nodes, std::vector<NodeRequest> lacking) override;

  /// What waits for nodes to join, in the order in which it is served, and what could use them.
  Demand demand() const;
  /// Nodes of which nobody has anything, and which are of no use to what waits or to groups that
  /// may grow. Those that are drained are not among them.
  std::vector<std::string> idle_nodes() const;
  /// Called after each change that `demand` or `idle_nodes` may show.
  void on_supply_change(std::function<void()> changed) { supply_changed_ = std::move(changed); }

  /// How often it has looked for places: what its calls cost, for tests.
  std::int64_t plans_made() const { return plans_made_; }

 private:
  struct Node {
    node::ResourceLedger ledger;
    bool draining = false;
    /// By holder: CPUs that its workers there have not claimed, and are to use.
    std::map<std::int64_t, double> advised = {};
  };
  struct Request {
    std::int64_t holder = 0;
    Wanted wanted;
    Answers answers;
    bool told_pending = false;
    /// Whether it had its place, were nothing given out. Unset: the nodes have changed since it was
    /// known.
    mutable std::optional<bool> placeable = {};
  };
  /// An answer that is decided and not yet given.
  struct Answer {
    std::int64_t holder = 0;
    std::function<void()> give;
  };
  /// A group that has fewer workers than it may have.
  struct Small {
    Wanted wanted;
    int workers = 0;
  };
  using Views = std::vector<PlanNode>;

  std::optional<Plan> look(const Views& views, const Wanted& wanted) const;
  Views views_now() const;
  Views views_if_all_released() const;
  std::optional<Grant> grant(std::int64_t holder, const Wanted& wanted);
  bool give_back(std::int64_t holder);
  bool is_placeable(const Request& request) const;
  bool serve(Request& request);
  void tell_pending(Request& request, bool others);
  void serve_queue();
  void give_answers();
  void nodes_changed();
  void changed() const;
  std::string there_is() const;

  bool may_grow_ = false;
  std::map<std::int64_t, Node> nodes_;  ///< By number: in the order of their joining.
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::int64_t joined_ = 0;
  std::list<Request> queue_;
  std::map<std::int64_t, Small> small_;
  int untold_ = 0;  ///< Requests in the queue to which nobody has said why they wait.
  std::deque<Answer> answers_;
  bool gives_answers_ = false;
  std::function<void()> changed_;
  std::function<void()> supply_changed_;
  std::function<void()> spare_changed_;
  std::set<std::string> spare_in_use_;  ///< Nodes.
  std::vector<NodeRequest> spare_lacking_;
  mutable std::int64_t plans_made_ = 0;
};

}  // namespace headway::engine
