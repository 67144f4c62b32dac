#pragma once

#include "engine/demand.hpp"
#include "engine/engine.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <string>

namespace headway::engine {

/// Brings nodes to a driver, and takes them back: the seam for Ray, Slurm, Kubernetes and the like.
/// A provider starts `headway-agent --join <address> --token-file <file>` somewhere; the node comes
/// in by joining, as every node does. So a provider knows allocations and nothing of workers, and a
/// lost node is noticed by its connection and its lease, not by the provider.
///
/// What a provider must do:
///
/// - *Threads.* All functions are called on the driver's loop. They return at once: whatever blocks
///   (a command, a request to an API server) goes to a thread or a process of the provider's, which
///   posts its result to `Site::loop`. `Site::warn` is called on the loop.
/// - *Idempotence.* `want` is the whole demand, and replaces what was wanted before; an empty one
///   says that nothing waits. The same demand may come again. Allocations that are no longer
///   wanted and have not joined are withdrawn. `give_back` of a node that is unknown or has been
///   given back does nothing.
/// - *Order.* `open`, then the others in any order, then `close`. Nothing is called after `close`.
/// - *Errors.* Every error is the user's to read: `Site::warn` prints it beside the runs ("Slurm
///   refuses the job: invalid partition x"). A provider never throws and never ends a run. It goes
///   on trying with a pause that grows and has a bound, as long as the demand stands. It reports a
///   state once, not with each attempt.
/// - *Own nodes.* `joined` says whether the provider has brought that node; a label or a resource
///   that it gave the agent tells. Only those are given back. A node that joins though nobody wants
///   it any more is the provider's as well: it will be idle, and is given back.
/// - *Ends.* `close` starts to give back all that is still held, and does not wait. The destructor
///   may wait for that, for a few seconds at most. A driver that is killed calls neither, so the
///   provider's allocations end by themselves when their agents do.
class NodeProvider {
 public:
  /// What a provider may use of its driver.
  struct Site {
    boost::asio::io_context& loop;
    JoinAddress join;
    std::function<void(const std::string& text)> warn;  ///< On the loop; harmless after `close`.
  };

  virtual ~NodeProvider() = default;

  /// Nodes can join at `site.join`. Called once, before all else.
  virtual void open(Site site) = 0;
  virtual void want(const Demand& demand) = 0;
  /// Nobody has anything on this node, and nothing is given there any more. Its agent is dismissed
  /// by the driver, and ends at once; the provider takes back what the agent ran in, and ends an
  /// agent that has not ended after some seconds.
  virtual void give_back(const std::string& node_id) = 0;
  /// A node has joined. True when this provider has brought it.
  virtual bool joined(const node::NodeResources& node) = 0;
  /// A node that this provider has brought is no longer connected, whatever the reason.
  virtual void left(const std::string& node_id) = 0;
  virtual void close() = 0;
};

}  // namespace headway::engine
