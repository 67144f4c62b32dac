#pragma once

#include "engine/engine.hpp"
#include "node/resource_ledger.hpp"

#include <deque>
#include <set>

namespace headway::engine {

/// This machine as the one node. Runs that do not fit beside each other wait their turn.
class LocalEngine : public Engine {
 public:
  explicit LocalEngine(node::NodeResources node) : ledger_(std::move(node)) {}

  void acquire(std::int64_t holder, int workers, const WorkerClaim& claim, Granted granted) override;
  void release(std::int64_t holder) override;
  Resources total() const override { return ledger_.node().total; }
  Resources available() const override { return ledger_.available(); }

 private:
  struct Request {
    std::int64_t holder = 0;
    int workers = 0;
    WorkerClaim claim;
    Granted granted;
  };

  void serve_queue();
  Grant to_grant(const Request& request, std::vector<Slot> slots) const;

  node::ResourceLedger ledger_;
  std::deque<Request> queue_;
};

}  // namespace headway::engine
