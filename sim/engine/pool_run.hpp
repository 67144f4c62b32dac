#pragma once

#include "engine/node_pool.hpp"
#include "engine/node_supply.hpp"
#include "sim/random.hpp"
#include "sim/schedule.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::engine::sim {

/// How large a simulated cluster is.
struct Scale {
  int nodes_max = 20;  ///< Of the provider's, at a time.
  int holders = 20;
  int faults = 20;
  int nodes_at_start = 0;  ///< They are there before anybody asks.
  /// Nodes join and leave at multiples of this after they were wanted and given back.
  Duration grain = std::chrono::milliseconds(1);
};

/// What a simulated cluster has come to.
struct PoolCounts {
  int joined = 0;
  int lost = 0;
  int preempted = 0;
  int given_back = 0;
  int granted = 0;
  int nodes_most = 0;  ///< At a time.
};

/// The real pool and supply, with a provider, holders and nodes that are not: holders ask for
/// groups and give them back, the provider brings nodes for what waits, nodes join late or never,
/// are lost, or announced to go. Checked are, all the time, that nothing is given twice, or on a
/// node that is gone or going, and that the provider gets back only what nobody has; in the end,
/// when there are no more faults, that every holder was served, and every node given back.
class PoolRun {
 public:
  PoolRun(std::uint64_t seed, Scale scale);
  /// Throws std::runtime_error with what went wrong.
  PoolCounts run();

 private:
  struct Node {
    Resources total;
    Resources used;
    std::set<std::int64_t> holders;
    bool of_provider = false;
    bool going = false;       ///< Announced to go, or given back.
    bool given_back = false;  ///< To the provider.
  };
  struct Holder {
    Wanted wanted;
    std::vector<std::string> places;  ///< A node for each worker.
    bool waiting = false;
    int turn = 0;  ///< Grows with each request: what belongs to an older one is void.
  };

  void plan_holders();
  void plan_faults();
  void ask(std::int64_t id);
  void granted(std::int64_t id, int turn, const Grant& grant);
  void release(std::int64_t id);
  void join(const std::string& id, bool of_provider);
  void lose(const std::string& id);
  void fault();
  void look_soon();
  void look();
  void provide();
  Duration grained(Duration duration) const;
  std::optional<std::string> any_node();
  void check_books();
  void check_end();

  headway::sim::Random random_;
  Scale scale_;
  headway::sim::Schedule schedule_;
  NodePool pool_{true};
  NodeSupply supply_{{}};
  std::map<std::string, Node> nodes_;
  std::map<std::int64_t, Holder> holders_;
  Demand wanted_;                 ///< As the provider has heard it last.
  std::set<std::string> coming_;  ///< Allocations that have not joined.
  std::int64_t names_ = 0;
  bool looks_soon_ = false;
  std::optional<Time> next_look_;
  PoolCounts counts_;
};

/// Runs the cluster of one seed. What went wrong, in words.
std::optional<std::string> run_seed(std::uint64_t seed, Scale scale = {}, PoolCounts* counts = nullptr);

}  // namespace headway::engine::sim
