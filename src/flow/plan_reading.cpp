/// How a plan's builder reads units: rows in lanes, or in a ring.
#include "flow/lanes_stage.hpp"
#include "flow/plan_builder.hpp"
#include "flow/window_stage.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

/// Rows of a ring differ in size, and their sizes are estimated.
constexpr double ring_reserve = 1.25;
/// A ring has no more than this part of the budget.
constexpr std::int64_t ring_share = 3;

}  // namespace

/// Where rows go from their units to clients as they are, and are large.
arrow::Result<std::shared_ptr<SharedRing>> PlanBuilder::ring_for(const UnitChain& chain) const {
  const Leaf& leaf = *chain.leaves.front();
  const std::vector<Unit>& units = leaf.source->units();
  const bool changes = chain.leaves.size() > 1 || !leaf.steps.empty() || chain.order.permutes_rows ||
                       config_.shuffle_window_rows || !positions_;
  if (changes || config_.rows_dealt == 0 || !leaf.source->has_row_buffers() || units.empty()) return nullptr;
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const Unit& unit : units) {
    if (!fits_ring(unit)) continue;
    bytes += unit.bytes;
    rows += unit.rows;
  }
  if (rows == 0) return nullptr;
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(bytes) / static_cast<double>(rows) *
                                                static_cast<double>(config_.rows_dealt) * ring_reserve);
  if (wanted > engine_.budget().bytes() / ring_share) return nullptr;
  Result<std::shared_ptr<SharedRing>> ring = SharedRing::make(engine_.budget(), static_cast<std::uint64_t>(wanted));
  if (!ring) return arrow::Status::OutOfMemory(ring.error().message);
  return std::move(*ring);
}

/// Lanes that are read at the same time share the threads.
std::unique_ptr<Stage> PlanBuilder::lanes_stage(std::shared_ptr<const UnitChain> chain,
                                                std::shared_ptr<const data::EpochOrder> order,
                                                std::shared_ptr<arrow::Schema> schema) {
  const auto ranks = static_cast<int>(config_.shares.ranks.size());
  const int lanes_here = std::max(order->lanes() * ranks / config_.shares.world_size, 1);
  const auto stages = static_cast<std::size_t>(lanes_here);
  const std::size_t threads = std::max<std::size_t>(engine_.threads() / stages, 1);
  ParallelLimits limits{threads, 2 * threads + 2, config_.demand, others(stages)};
  limits.errored = errored_;
  const bool shuffles = order->config().permutes_rows;
  auto read_lane = [chain = std::move(chain), order, schema, limits, shuffles, gauges = gauges_, &engine = engine_](
                       int lane, std::uint32_t window) -> arrow::Result<std::unique_ptr<Stage>> {
    auto stage =
        read_units(engine.budget(), limits, *chain, order, parts_of_lane(*order, lane, window), schema, gauges);
    if (shuffles) stage = std::make_unique<WindowStage>(std::move(stage), order, engine.budget().pool());
    return stage;
  };
  data::Shares shares = config_.shares;
  shares.rows_max = rows_max_;
  auto stage = std::make_unique<LanesStage>(std::move(order), shares, config_.rows_before, std::move(schema),
                                            std::move(read_lane));
  return shuffles ? gauged(std::move(stage), "shuffle") : std::move(stage);
}

}  // namespace headway::flow
