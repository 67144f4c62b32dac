#pragma once

#include "core/labels.hpp"
#include "engine/demand.hpp"
#include "node/resource_ledger.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// What is spare: CPUs that no holder of slots has. Function workers of data sets use them until
/// somebody claims them, so whoever asks for slots, waits for them or may grow sees nothing of
/// those workers.
namespace headway::engine {

/// A node with its CPUs that are neither claimed nor advised to be used.
struct SpareNode {
  std::string node_id;
  std::string hostname;
  std::string node_ip;
  double cpus = 0;
  bool has_gpus = false;
  Labels labels;
};

/// Which node a worker wants.
struct SpareWanted {
  double cpus = 1;
  std::set<std::string> not_on;  ///< By id.
  Labels labels;                 ///< A selector.
};

/// Who uses what is spare. Decides; starts and ends nothing.
class SparePlaces {
 public:
  /// Where one more worker goes: to a node without GPUs before one with some, and then to where
  /// most is left. Null: nowhere.
  const SpareNode* find(const std::vector<SpareNode>& nodes, const SpareWanted& wanted) const;
  /// How many workers more there is room for.
  int room(const std::vector<SpareNode>& nodes, const SpareWanted& wanted) const;

  void take(std::int64_t worker, const std::string& node_id, double cpus);
  void give_back(std::int64_t worker);
  /// `more` is called within `give_back`: others may use it.
  void on_give_back(std::function<void()> more) { given_back_ = std::move(more); }

  /// Those that must go because what they use is spare no more: the ones that came last.
  std::vector<std::int64_t> too_many(const std::vector<SpareNode>& nodes) const;
  /// The nodes where anybody uses something.
  std::set<std::string> nodes_in_use() const;

  /// What `owner` would use if nodes came for it, instead of what it said before.
  void lack(const void* owner, std::vector<NodeRequest> requests);
  /// The same of all.
  std::vector<NodeRequest> lacking() const;

 private:
  struct Taken {
    std::string node_id;
    double cpus = 0;
  };
  /// CPUs in use, by node.
  std::map<std::string, double> used() const;

  std::map<std::int64_t, Taken> taken_;  ///< By worker; later ones have higher numbers.
  std::function<void()> given_back_;
  std::map<const void*, std::vector<NodeRequest>> lacking_;
};

}  // namespace headway::engine
