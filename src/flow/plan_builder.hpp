#pragma once

#include "data/epoch_order.hpp"
#include "data/plan.hpp"
#include "data/plan_identity.hpp"
#include "data/rounds.hpp"
#include "flow/cut_stages.hpp"
#include "flow/demand.hpp"
#include "flow/engine.hpp"
#include "flow/errored_units.hpp"
#include "flow/flow_gauges.hpp"
#include "flow/functions/whole_stage.hpp"
#include "flow/seen_rows.hpp"
#include "flow/shared_ring.hpp"
#include "flow/shuffle_choice.hpp"
#include "flow/stage.hpp"
#include "flow/unit_chain.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headway::flow {

/// Everything that a client sent along with a plan.
struct PlanInput {
  data::Plan plan;       ///< As it was given: what a cursor is valid for.
  data::Plan optimised;  ///< What runs.
  std::vector<std::string> blobs;
  std::int64_t errored_max = 0;  ///< As in `feed::Open`.
  feed::OtherNodes other_nodes = feed::OtherNodes::never;

  /// Of `plan` or `optimised`.
  data::PlanIdentity identity_of(const data::Plan& which) const;
};

/// Splits the raw part of a message (`feed::Open`, `Ask`, `Run`) into blobs, and parses the plan.
/// Errors: `invalid_argument`, `corrupted`.
Result<PlanInput> read_plan(const Json& plan, const std::vector<std::uint64_t>& blob_sizes, std::int64_t errored_max,
                            const std::string* blobs);

/// Sources that were opened for a plan: by node.
using OpenedSources = std::map<std::size_t, std::shared_ptr<const Source>>;

/// Which epoch of a plan, and from where on.
struct EpochConfig {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint32_t first_window = 0;  ///< Only for plans with positions.
  /// Rows are shuffled in windows of so many.
  std::optional<std::int64_t> shuffle_window_rows;
  /// At once, by shuffles in windows.
  std::int64_t shuffled_bytes_max = data::default_window_bytes;
  /// Until it is there, units are read one at a time. Null: it is there.
  std::shared_ptr<Demand> demand = nullptr;
  /// Called once when no unit is left to begin, by any thread; only for plans with positions.
  std::function<void()> on_read = nullptr;
  /// Into how many lanes the rows are cut, where the plan allows that; the stage gives the rows of
  /// `shares` then, from `rows_before` on.
  int lanes = 1;
  data::Shares shares = {};
  std::int64_t rows_before = 0;
  /// Rows that clients have and that wait for them, as a rule; 0: unknown.
  std::int64_t rows_dealt = 0;
};

/// A plan that is ready to run.
struct BuiltPlan {
  std::unique_ptr<Stage> stage;
  /// Of the chunks' windows. Null: rows of this plan have no position but their number.
  std::shared_ptr<const data::EpochOrder> order;
  /// More than one: the stage gives the rows of this machine's ranks alone, round by round.
  int lanes = 1;
  /// Of all sources; what a cursor is checked against.
  std::vector<data::UnitSize> units;
  std::int64_t rows_max = -1;  ///< The limit at the plan's end, which is not in `stage`.
  /// Whether it may make batches that nobody has asked for: no other process does a part of it, and
  /// not all rows are read before the first one.
  bool may_run_ahead = true;
  std::shared_ptr<const ErroredUnits> errored;
  /// Where large rows are made that clients map; null: rows are small, or change on their way.
  std::shared_ptr<SharedRing> ring;
};

/// Whether epochs of the plan may begin before they are asked for: that costs no more than opening
/// files and reading some of them.
bool begins_ahead(const data::Plan& optimised);

/// Opens the sources of a plan and makes stages of its nodes. Blocks: files are listed, footers are
/// read.
class PlanBuilder {
 public:
  /// `gauges` count what the plan's stages do; the thread that builds them is the one that pulls.
  PlanBuilder(Engine& engine, const PlanInput& input, const EpochConfig& config,
              std::shared_ptr<FlowGauges> gauges = nullptr)
      : engine_(engine),
        input_(input),
        config_(config),
        gauges_(gauges ? std::move(gauges) : std::make_shared<FlowGauges>(engine.budget())),
        errored_(std::make_shared<ErroredUnits>(input.errored_max)) {}

  arrow::Result<BuiltPlan> build();

  /// How many rows the plan has, where its sources know that; else -1.
  arrow::Result<std::int64_t> known_rows();
  /// The files that are read.
  arrow::Result<std::vector<std::string>> files();
  /// Decoded bytes that are read, as far as the sources know.
  arrow::Result<std::int64_t> bytes();

 private:
  /// Units in an order, as long as each node is about single units; a stage after that.
  struct Built {
    std::optional<UnitChain> chain;
    std::unique_ptr<Stage> stage;
  };

  const data::Node& node(std::size_t index) const { return input_.optimised.nodes[index]; }
  bool is_chain(std::size_t index) const;
  bool has_positions(std::size_t index) const;
  bool may_have_lanes(std::size_t index) const;

  arrow::Result<Built> build(std::size_t index);
  arrow::Result<Built> build_leaf(std::size_t index);
  arrow::Result<Built> build_steps(std::size_t index, std::shared_ptr<const UnitStep> step, bool keeps_rows);
  std::optional<UnitPlace> seeded_place(std::size_t index) const;
  UnitPlace place_behind(std::size_t index) const;
  std::shared_ptr<StageGauge> gauge_of(const std::shared_ptr<const UnitStep>& step, std::string name);
  /// Of a node of the optimised plan; from their number on of its shuffles on disk.
  SeenAt seen_at(std::size_t step);
  std::unique_ptr<Stage> gauged(std::unique_ptr<Stage> stage, std::string name) {
    return flow::gauged(std::move(stage), gauges_, std::move(name));
  }
  UnitBytes unit_bytes_for_functions(std::size_t index) const;
  std::unique_ptr<Stage> cut_for_functions(std::size_t index, std::unique_ptr<Stage> rows) const;
  arrow::Result<Built> build_union(std::size_t index);
  arrow::Result<std::vector<Built>> build_inputs_of_union(std::size_t index);
  std::shared_ptr<const UnitStep> function_of(std::size_t index, const data::FunctionNode& function);
  /// See FunctionSpec.
  int copy_of(const std::string& function);
  arrow::Result<Built> build_shuffle(std::size_t index, const data::ShuffleNode& shuffle);
  arrow::Result<std::unique_ptr<Stage>> shuffled(std::unique_ptr<Stage> rows,
                                                 std::shared_ptr<const data::EpochOrder> order,
                                                 const std::vector<data::UnitSize>& units, bool may_grow);
  arrow::Result<std::unique_ptr<Stage>> shuffled_on_disk(std::unique_ptr<Stage> rows, std::uint64_t key_start);
  OverRows shuffle_on_disk(std::uint64_t key_start);
  arrow::Result<Built> build_whole(std::size_t index, const data::WholeNode& whole);
  WholeMemory whole_memory() const;
  arrow::Result<Built> build_cut(std::size_t index, const data::RepartitionNode& cut);
  arrow::Result<std::vector<std::unique_ptr<Stage>>> inputs_of(std::size_t index);
  arrow::Result<std::unique_ptr<Stage>> stage_of(Built built);
  std::unique_ptr<Stage> lanes_stage(std::shared_ptr<const UnitChain> chain,
                                     std::shared_ptr<const data::EpochOrder> order,
                                     std::shared_ptr<arrow::Schema> schema);
  arrow::Result<std::unique_ptr<Stage>> input_stage(std::size_t index);
  arrow::Result<std::shared_ptr<const UnitStep>> step_of(std::size_t index);
  arrow::Result<std::shared_ptr<const Source>> source_of(std::size_t index);
  arrow::Result<std::shared_ptr<const Source>> source_for_functions(std::size_t index);
  arrow::Status open_sources();
  ParallelLimits step_limits() const {
    return {.threads = engine_.threads(),
            .items_ahead = engine_.threads() + 1,
            .demand = config_.demand,
            .others = others(),
            .errored = errored_};
  }
  /// Function workers of other nodes, which threads here wait for: the part of one of `stages`.
  OtherThreads others(std::size_t stages = 1) const;
  arrow::Result<std::shared_ptr<SharedRing>> ring_for(const UnitChain& chain) const;
  arrow::Result<std::shared_ptr<SharedRing>> ring_for_shuffled(const std::shared_ptr<arrow::Schema>& schema);
  arrow::Result<std::shared_ptr<SharedRing>> ring_of(std::int64_t bytes) const;
  arrow::Status shuffle_locally(Built& top);
  arrow::Result<std::int64_t> rows_of(std::size_t index);
  std::size_t result();

  Engine& engine_;
  const PlanInput& input_;
  const EpochConfig config_;
  const std::shared_ptr<FlowGauges> gauges_;
  const std::shared_ptr<ErroredUnits> errored_;
  OpenedSources sources_;
  std::shared_ptr<const data::EpochOrder> order_;
  std::vector<data::UnitSize> units_;
  std::shared_ptr<SharedRing> ring_;
  bool positions_ = false;
  std::int64_t rows_max_ = -1;
  bool lanes_ = false;  ///< The order may have several.
  bool has_workers_ = false;
  bool reads_all_first_ = false;
  std::size_t shuffles_on_disk_ = 0;
  std::map<std::string, int> copies_;  ///< Of equal functions, by what is called.
  std::string name_;                   ///< Of the optimised plan, once it was asked for.
};

}  // namespace headway::flow
