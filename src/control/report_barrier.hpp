#pragma once

#include "control/metric_reduction.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::control {

/// Which rank uploads which files of one checkpoint.
struct UploadPlan {
  /// `placed` also when some ranks upload files to the directory that others report where it lies.
  CheckpointSource source = CheckpointSource::files;
  /// By rank; ranks that upload nothing are missing. With the source `function` each rank that has
  /// one is there, without names.
  std::map<int, std::vector<std::string>> files;
  /// The placed one's, else from the lowest rank that named one.
  std::optional<std::string> directory_name;
  std::optional<std::string> same_name_warning;  ///< When several ranks offered one file name.
  /// Why the ranks' offers cannot be one checkpoint.
  std::optional<std::string> conflict;
};

/// One report of all ranks: each rank's n-th call belongs together.
class ReportBarrier {
 public:
  explicit ReportBarrier(int world_size = 0) : offers_(static_cast<std::size_t>(world_size)) {}

  struct Offer {
    std::int64_t index = 0;
    JsonObject metrics;
    std::optional<CheckpointOffer> checkpoint;
    std::optional<ValidationTask> validation = {};
    std::optional<ReductionPlan> reduce = {};
    std::optional<JsonObject> data = {};
  };

  /// Takes a rank's offer. False when it is not the rank's next one (a defect of the peer).
  bool offer(int rank, Offer offer);

  bool complete() const { return waiting_ == static_cast<int>(offers_.size()); }
  bool empty() const { return waiting_ == 0; }
  /// The ranks that have offered, ascending.
  std::vector<int> waiting_ranks() const;

  std::int64_t index() const { return index_; }
  /// Rank 0's metrics, reduced over the ranks as rank 0 asks for; only when complete.
  ReducedMetrics metrics() const;
  /// Each rank's own, by rank.
  std::vector<JsonObject> rank_metrics() const;
  /// What rank 0 wants to have validated; only when complete.
  const std::optional<ValidationTask>& validation() const { return offers_.front()->validation; }
  /// Where rank 0 stands in its data sets; only when complete.
  const std::optional<JsonObject>& data() const { return offers_.front()->data; }
  bool has_checkpoint() const;
  /// Whether every rank that gave a checkpoint wants to go on before it is stored.
  bool asynchronous() const;

  /// For each file name the lowest rank that offered it uploads it, alone.
  UploadPlan plan_uploads() const;

  /// Opens the next index.
  void advance();

 private:
  void plan_files(UploadPlan& plan) const;

  std::vector<std::optional<Offer>> offers_;
  int waiting_ = 0;
  std::int64_t index_ = 0;
};

}  // namespace headway::control
