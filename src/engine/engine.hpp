#pragma once

#include "core/config.hpp"
#include "core/worker.hpp"
#include "engine/engine_view.hpp"
#include "engine/placement.hpp"
#include "engine/spare_places.hpp"
#include "node/resource_ledger.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headway::engine {

/// What a run asks for.
struct Wanted {
  int workers_min = 1;
  int workers_max = 1;  ///< As many as fit, up to this.
  WorkerClaim claim;    ///< Each worker's.
  Placement placement = Placement::pack;
  Resources beside = {};  ///< Held beside the workers, on one node.
  /// Before those that hold nothing: who asks holds something already, which others may wait for.
  bool ahead = false;
  std::string node_id = {};  ///< Only there; empty: anywhere.
  /// For a checkpoint of this holder, whose training goes first.
  std::optional<std::int64_t> validates = {};
};

/// What an engine gives for one run: a slot a rank, in rank order.
struct Grant {
  std::vector<Slot> slots;
  std::vector<std::string> warnings;
};

/// Where agents of other machines join this driver.
struct JoinAddress {
  std::string address;  ///< "host:port", as other machines reach it.
  std::string token;    ///< What an agent proves to have.
};

/// Where slots come from. An engine gives and takes; it never judges whether a node is alive. Used
/// on the driver's loop alone; verbs are idempotent and answer through callbacks, at once or later.
class Engine {
 public:
  struct Answers {
    std::function<void(Result<Grant>)> granted;
    /// It takes until others give back, or nodes join; at most once, before `granted`.
    std::function<void(std::string reason)> pending;
  };

  virtual ~Engine() = default;

  /// Asks for slots, at least the minimum or none, and gives back what `holder` has. `granted` is
  /// called once: when there is capacity, in the order of asking, or with `invalid_argument` at
  /// once when there can never be. Not at all when released before. The holder's own validations
  /// that wait step back behind it.
  virtual void acquire(std::int64_t holder, const Wanted& wanted, Answers answers) = 0;

  /// Gives back what `holder` has, or withdraws what it asked for.
  virtual void release(std::int64_t holder) = 0;

  /// Number of workers `holder` would get if it released everything and asked again; its place in
  /// the queue counts. It takes nothing from its own validations that wait for others; those that
  /// wait for what it has itself wait on.
  virtual int possible(std::int64_t holder, const Wanted& wanted) const = 0;

  /// `invalid_argument` when no set of nodes has what is wanted, even if nobody else had anything,
  /// naming what there is.
  virtual Result<void> check_possible(const Wanted& wanted) const = 0;

  /// Its nodes, and the requests that wait.
  virtual EngineView view() const = 0;
  virtual Resources total() const = 0;
  virtual Resources available() const = 0;

  // The nodes of this driver. An engine that gives slots of another driver's nodes has none.

  virtual void add(node::NodeResources node) = 0;
  /// Nothing is given on it any more, and what was is not given back to it.
  virtual void remove(const std::string& node_id) = 0;
  /// Nothing new is given on it; what holders have there they keep.
  virtual void drain(const std::string& node_id) = 0;
  virtual std::vector<node::NodeResources> nodes() const = 0;
  /// Called whenever holders may be able to have more than before.
  virtual void on_change(std::function<void()> changed) = 0;
  /// Called with each node that is given back to who has brought it: its agent is to be dismissed.
  virtual void on_give_back(std::function<void(const std::string& node_id)>) {}
  /// CPUs that no holder has, by node. Those of nodes that are drained are not among them.
  virtual std::vector<SpareNode> spare() const { return {}; }
  /// Called whenever that may be another, in the middle of the change.
  virtual void on_spare_change(std::function<void()>) {}
  /// Somebody uses what is spare on these nodes, and on no others: they are not idle. `lacking`:
  /// what more nodes would be used for.
  virtual void use_spare_of(std::set<std::string>, std::vector<NodeRequest>) {}
  /// From now on nodes can join there. Called at most once.
  virtual void open(const JoinAddress&) {}
  /// The runtime ends: no answer is given after this. Called once, before the loop stops.
  virtual void close() {}
  /// After that, when the loop has stopped: waits until what `close` began is done, for some
  /// seconds at most.
  virtual void wait_for_end() {}
};

}  // namespace headway::engine
