/// How a plan's builder reads units: in lanes, in a ring, or finer ones for functions.
#include "flow/cut_stages.hpp"
#include "flow/finer_source.hpp"
#include "flow/function_batches.hpp"
#include "flow/lanes_stage.hpp"
#include "flow/plan_builder.hpp"
#include "flow/row_steps.hpp"
#include "flow/window_stage.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace headway::flow {
namespace {

/// Rows of a ring differ in size, and their sizes are estimated.
constexpr double ring_reserve = 1.25;
/// A ring has no more than this part of the budget.
constexpr std::int64_t ring_share = 3;

/// In so many units rows go to functions, if there are enough: workers share units.
constexpr std::int64_t units_for_functions = 32;
/// For the sake of a limit behind a filter there are so many times as many at most: handing them
/// over would take longer than most functions.
constexpr std::int64_t finer_for_limit = 64;
/// The types of columns are those of the first unit's outputs, so it has as many rows at least.
constexpr std::int64_t unit_rows_min = 8;
/// Functions that want no number of rows get as many from memory at least, and of files what a unit
/// has.
constexpr std::int64_t memory_batch_rows = 1024;
constexpr std::int64_t file_batch_rows = 1;

/// What the functions above a source want.
struct Wanted {
  std::int64_t batch_rows = 0;  ///< Units have a multiple of these; 0: there are no functions.
  std::int64_t rows_max = std::numeric_limits<std::int64_t>::max();  ///< More do not come to them.
  /// Of what they make no more are wanted; behind filters all rows may be needed for these.
  std::int64_t results_max = std::numeric_limits<std::int64_t>::max();
};

/// As long as nodes are about single units. Behind steps that change the number of rows nobody
/// knows how many rows make a batch.
Wanted wanted_above(const data::Plan& plan, std::size_t index, std::int64_t otherwise) {
  Wanted wanted;
  bool same_rows = true;
  for (std::size_t at = index + 1; at < plan.nodes.size(); ++at) {
    const data::Node& node = plan.nodes[at];
    if (std::ranges::find(node.inputs, index) == node.inputs.end()) continue;
    const auto* function = node.as<data::FunctionNode>();
    if (function != nullptr) {
      const std::optional<std::int64_t> rows = batch_rows_of(*function, otherwise);
      if (!rows || (!same_rows && *rows > 1)) return {};
      const auto together = multiple_of(std::max<std::int64_t>(wanted.batch_rows, 1), *rows);
      if (!together) return {};
      wanted.batch_rows = *together;
    } else if (const auto* limit = node.as<data::LimitNode>()) {
      std::int64_t& most = same_rows ? wanted.rows_max : wanted.results_max;
      most = std::min(most, limit->rows);
    } else if (!is_step(node) && node.as<data::UnionNode>() == nullptr) {
      break;
    }
    same_rows = same_rows && (function != nullptr ? !changes_rows(*function) : !is_step(node) || keeps_rows(node));
    index = at;
  }
  return wanted;
}

/// Whether a step looks at the places of rows. They are the same with and without functions behind
/// it: a part of a data set by chance has the same rows, whatever is done with them.
bool looks_at_places(const data::Plan& plan) {
  return std::ranges::any_of(plan.nodes, [](const data::Node& node) {
    if (node.as<data::SampleNode>() != nullptr) return true;
    if (const auto* filter = node.as<data::FilterNode>()) return !data::is_pure(filter->where);
    const auto* project = node.as<data::ProjectNode>();
    return project != nullptr && !std::ranges::all_of(project->columns, [](const data::NamedExpression& column) {
             return data::is_pure(column.expression);
           });
  });
}

}  // namespace

/// A function's work takes longer than it costs to hand over more units, and it begins with the
/// first one. How many there are depends on the plan and its files alone, so that order, batches
/// and cursors are the same on every machine.
arrow::Result<std::shared_ptr<const Source>> PlanBuilder::source_for_functions(std::size_t index) {
  ARROW_ASSIGN_OR_RAISE(auto source, source_of(index));
  const auto* read = node(index).as<data::ReadNode>();
  const bool is_in_memory =
      node(index).as<data::RangeNode>() != nullptr || (read != nullptr && read->format == "arrow");
  const bool has_enough = static_cast<std::int64_t>(source->units().size()) >= units_for_functions;
  if (has_enough || looks_at_places(input_.optimised)) return source;
  const Wanted wanted = wanted_above(input_.optimised, index, is_in_memory ? memory_batch_rows : file_batch_rows);
  if (wanted.batch_rows == 0) return source;
  const std::int64_t rows = std::min(rows_of_source(*source), wanted.rows_max);
  // How many rows of files make a batch is not known, then.
  if (rows < 0 ? is_in_memory || wanted.batch_rows > 1 : rows <= wanted.batch_rows) return source;
  const std::int64_t first_rows = std::min(rows, std::max(wanted.results_max, rows / finer_for_limit));
  const std::int64_t rows_min = std::max((first_rows + units_for_functions - 1) / units_for_functions, unit_rows_min);
  const std::int64_t unit_rows = rounded_up(rows_min, wanted.batch_rows);
  auto finer =
      is_in_memory
          ? in_finer_units(source, unit_rows)
          : source->in_finer_units(
                {.units = units_for_functions, .rows_min = rows < 0 ? -1 : unit_rows, .batch_rows = wanted.batch_rows});
  return finer == nullptr ? source : finer;
}

/// Units of rows that no source has: few rows where these are large, since whoever changes a unit
/// may hold it as a whole, and of those as many as functions want in a batch.
UnitBytes PlanBuilder::unit_bytes_for_functions(std::size_t index) const {
  const Wanted wanted = wanted_above(input_.optimised, index, memory_batch_rows);
  return {.most = part_bytes_min, .multiple = std::max<std::int64_t>(wanted.batch_rows, 1)};
}

/// Rows that are put together from several stages come in pieces of any size, down to single rows.
/// Functions get their batches from units.
std::unique_ptr<Stage> PlanBuilder::cut_for_functions(std::size_t index, std::unique_ptr<Stage> rows) const {
  const UnitBytes bytes = unit_bytes_for_functions(index);
  return cut_anew(std::move(rows), rounded_up(memory_batch_rows, bytes.multiple), bytes);
}

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
  return ring_of(wanted);
}

/// Where rows go to clients as the shuffle gives them, and some of their values are wide. The chunk
/// that is made next and the one whose last batch is in use have room beside those that are dealt.
arrow::Result<std::shared_ptr<SharedRing>> PlanBuilder::ring_for_shuffled(
    const std::shared_ptr<arrow::Schema>& schema) {
  const std::size_t last = result();
  const bool is_last = is_chain(last) || node(last).as<data::ShuffleNode>() != nullptr;
  if (!is_last || !positions_ || config_.rows_dealt == 0) return nullptr;
  if (schema == nullptr) return nullptr;  // A function's first output shows its columns.
  const RowWindow window(schema, -1, engine_.budget().pool());
  const std::int64_t rows = config_.rows_dealt + 2 * WindowStage::rows_of_chunk(window.row_bytes());
  return ring_of(rows * window.row_bytes_in_ring());
}

/// Null: there is no room for one.
arrow::Result<std::shared_ptr<SharedRing>> PlanBuilder::ring_of(std::int64_t bytes) const {
  if (bytes == 0 || bytes > engine_.budget().bytes() / ring_share) return nullptr;
  Result<std::shared_ptr<SharedRing>> ring = SharedRing::make(engine_.budget(), static_cast<std::uint64_t>(bytes));
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
