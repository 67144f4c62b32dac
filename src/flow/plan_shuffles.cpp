/// How a plan's builder shuffles: units and rows within windows, all rows, or rows near each other.
#include "data/exact_order.hpp"
#include "flow/combined_stages.hpp"
#include "flow/cut_stages.hpp"
#include "flow/local_shuffle.hpp"
#include "flow/plan_builder.hpp"
#include "flow/window_stage.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

/// A local shuffle of rows without pieces holds its window, and its shuffled copy.
constexpr std::int64_t copies_of_window = 2;
/// Exact shuffles keep all rows in memory where they need no more than this part of the budget.
constexpr std::int64_t exact_share = 2;
/// The same where functions or columns on the way may make rows larger: beside them there are
/// functions' workers.
constexpr std::int64_t exact_share_of_made = 4;
/// After a shuffle of all rows, rows go on in units of about so many bytes.
constexpr std::int64_t shuffled_unit_bytes = std::int64_t{16} << 20;
constexpr std::int64_t shuffled_unit_rows_max = 65'536;
constexpr std::int64_t shuffled_unit_rows = 1024;  ///< Where the sources do not know their rows.

/// The same on every machine, whatever its memory: functions see the same batches.
std::int64_t rows_of_shuffled_unit(const std::vector<data::UnitSize>& units) {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  for (const data::UnitSize& unit : units) {
    if (unit.rows < 0) return shuffled_unit_rows;
    rows += unit.rows;
    bytes += unit.bytes;
  }
  if (rows == 0 || bytes == 0) return shuffled_unit_rows;
  const double row_bytes = static_cast<double>(bytes) / static_cast<double>(rows);
  const auto fitting = static_cast<std::int64_t>(static_cast<double>(shuffled_unit_bytes) / row_bytes);
  return std::clamp<std::int64_t>(fitting, 1, shuffled_unit_rows_max);
}

std::int64_t bytes_of(const std::vector<data::UnitSize>& units) {
  std::int64_t bytes = 0;
  for (const data::UnitSize& unit : units) bytes += unit.bytes;
  return bytes;
}

}  // namespace

/// The rows of a chain, in windows or all of them.
arrow::Result<std::unique_ptr<Stage>> PlanBuilder::shuffled(std::unique_ptr<Stage> rows,
                                                            std::shared_ptr<const data::EpochOrder> order,
                                                            const std::vector<data::UnitSize>& units, bool may_grow) {
  const data::OrderConfig& config = order->config();
  const bool is_exact = config.window_bytes == data::whole_epoch;
  const OverRows in_memory = [order, pool = engine_.budget().pool(), ring = ring_](std::unique_ptr<Stage> all) {
    return arrow::Result<std::unique_ptr<Stage>>(std::make_unique<WindowStage>(std::move(all), order, pool, ring));
  };
  std::unique_ptr<Stage> stage;
  if (!is_exact) {
    ARROW_ASSIGN_OR_RAISE(stage, in_memory(std::move(rows)));
    return gauged(std::move(stage), "shuffle");
  }
  const std::uint64_t key_start = data::key_start(config.seed, config.epoch);
  if (bytes_of(units) > engine_.budget().bytes() / exact_share) {
    ring_ = nullptr;  // Rows from DuckDB's worker lie elsewhere.
    ARROW_ASSIGN_OR_RAISE(stage, shuffled_on_disk(std::move(rows), key_start));
  } else if (may_grow && engine_.functions()->has_host()) {
    stage = shuffled_where_they_fit(std::move(rows), engine_.budget().bytes() / exact_share_of_made, in_memory,
                                    shuffle_on_disk(key_start));
  } else {
    // Without a host there is no DuckDB: rows that do not fit are the program's own.
    ARROW_ASSIGN_OR_RAISE(stage, in_memory(std::move(rows)));
  }
  return gauged(std::move(stage), "shuffle");
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_shuffle(std::size_t index, const data::ShuffleNode& shuffle) {
  ARROW_ASSIGN_OR_RAISE(Built built, build(node(index).inputs[0]));
  const std::uint64_t seed = shuffle.seed.value_or(config_.seed);
  const std::uint32_t epoch = shuffle.reseed ? config_.epoch : 0;
  Built made;
  if (!built.chain && shuffle.kind == data::ShuffleKind::blocks) {
    return arrow::Status::NotImplemented(
        "randomize_block_order: after a limit, zip, mix, sort, repartition or shuffle there are no pieces to put into "
        "another order; use it before, or random_shuffle");
  }
  if (!built.chain) {
    ARROW_ASSIGN_OR_RAISE(made.stage, shuffled_on_disk(std::move(built.stage), data::key_start(seed, epoch)));
    made.stage = gauged(std::move(made.stage), "shuffle");
    made.stage = cut_anew(std::move(made.stage), shuffled_unit_rows, unit_bytes_for_functions(index));
    return made;
  }
  data::OrderConfig& order = built.chain->order;
  order.permutes_units = true;
  order.seed = seed;
  order.epoch = epoch;
  if (shuffle.kind == data::ShuffleKind::blocks) return built;
  order.permutes_rows = true;
  if (shuffle.window_bytes) order.window_bytes = *shuffle.window_bytes;
  if (shuffle.kind == data::ShuffleKind::exact) order.window_bytes = order.part_bytes = data::whole_epoch;
  ARROW_ASSIGN_OR_RAISE(made.stage, stage_of(std::move(built)));
  if (shuffle.kind != data::ShuffleKind::exact) return made;
  made.stage = cut_anew(std::move(made.stage), rows_of_shuffled_unit(units_), unit_bytes_for_functions(index));
  return made;
}

/// Where the rows come from a shuffle with a seed, what functions draw depends on that seed, too.
std::optional<UnitPlace> PlanBuilder::seeded_place(std::size_t index) const {
  const auto place = [this](const auto& seeded) {
    return UnitPlace{*seeded.seed, seeded.reseed ? config_.epoch : 0, 0, "", true};
  };
  const auto* shuffle = node(index).as<data::ShuffleNode>();
  if (shuffle != nullptr && shuffle->seed) return place(*shuffle);
  const auto* read = node(index).as<data::ReadNode>();
  if (read != nullptr && read->shuffle_files && read->shuffle_files->seed) return place(*read->shuffle_files);
  for (const std::size_t input : node(index).inputs) {
    if (auto found = seeded_place(input)) return found;
  }
  return std::nullopt;
}

/// Of steps whose rows are no longer those of units in an order.
UnitPlace PlanBuilder::place_behind(std::size_t index) const {
  return seeded_place(index).value_or(UnitPlace{config_.seed, config_.epoch, 0, "", true});
}

/// What an operation gets. All operations of a plan may run at once, and share three quarters of
/// what the budget has for rows. The rest is for rows on their way in and out, and for what the
/// process takes beyond DuckDB's limit: 110 MiB were measured. Beside functions' workers it gets
/// less, since each of them has memory that is not for rows. Where DuckDB cannot get less, the
/// operation takes that of the budget, so that less is read ahead.
WholeMemory PlanBuilder::whole_memory() const {
  constexpr std::int64_t mebibyte = 1 << 20;
  constexpr std::int64_t duckdb_min = 64 * mebibyte;  // With 48 MiB DuckDB fails.
  constexpr std::int64_t beyond_limit = 112 * mebibyte;
  constexpr std::int64_t python = 64 * mebibyte;  // And DuckDB itself.
  const auto needs_all_rows = [](const data::Node& node) {
    const auto* shuffle = node.as<data::ShuffleNode>();
    return node.as<data::WholeNode>() != nullptr || (shuffle != nullptr && shuffle->kind == data::ShuffleKind::exact);
  };
  const auto calls_python = [](const data::Node& node) {
    const auto* whole = node.as<data::WholeNode>();
    return node.as<data::FunctionNode>() != nullptr || (whole != nullptr && whole->blob);
  };
  const std::int64_t operations =
      std::max<std::int64_t>(1, std::ranges::count_if(input_.optimised.nodes, needs_all_rows));
  const std::int64_t of_workers = std::ranges::any_of(input_.optimised.nodes, calls_python) ? 32 * mebibyte : 0;
  const std::int64_t bytes = engine_.budget().bytes();
  const std::int64_t all = std::min(bytes / 4 * 3, bytes - beyond_limit - of_workers);
  const std::int64_t each = all / operations;
  return {std::max(duckdb_min, each), python + (each < duckdb_min ? of_workers / operations : 0)};
}

/// DuckDB sorts the rows by their keys, and spills what exceeds memory.
arrow::Result<std::unique_ptr<Stage>> PlanBuilder::shuffled_on_disk(std::unique_ptr<Stage> rows,
                                                                    std::uint64_t key_start) {
  if (!engine_.functions()->has_host()) {
    return arrow::Status::CapacityError(
        "random_shuffle: a C++ program shuffles rows in memory: half of the data process's budget of ",
        engine_.budget().bytes() >> 20,
        " MiB at most, and none after a limit or another shuffle; shuffle before limit(), use randomize_block_order(), "
        "or name an interpreter that has the packages headway and duckdb by HEADWAY_PYTHON");
  }
  return shuffle_on_disk(key_start)(std::move(rows));
}

OverRows PlanBuilder::shuffle_on_disk(std::uint64_t key_start) {
  has_workers_ = true;
  data::WholeNode sort;
  sort.operation = "random_shuffle";
  sort.options["start"] = key_start;
  return [sort, functions = engine_.functions(), memory = whole_memory(), scratch = engine_.scratch(),
          seen = seen_at(input_.optimised.nodes.size() + shuffles_on_disk_++),
          demand = config_.demand](std::unique_ptr<Stage> rows) {
    Stages inputs;
    inputs.push_back(std::move(rows));
    return arrow::Result(whole_stage(functions, sort, std::move(inputs), memory, scratch, seen, demand));
  };
}

/// A local shuffle is one in windows of units that have about as many rows. Rows that are shuffled
/// already stay as they are.
arrow::Status PlanBuilder::shuffle_locally(Built& top) {
  if (!config_.shuffle_window_rows || (top.stage && positions_)) return arrow::Status::OK();
  if (!top.chain) {
    top.stage =
        cut_anew(std::move(top.stage), *config_.shuffle_window_rows, {config_.shuffled_bytes_max / copies_of_window});
    const UnitPlace place{config_.seed, config_.epoch, 0, "", true};
    auto step = shuffle_of_units(engine_.budget().pool());
    const auto gauge = gauge_of(step, "local shuffle");
    return with_steps(engine_.budget(), step_limits(), std::move(top.stage), {std::move(step)}, place, gauges_, {gauge})
        .Value(&top.stage);
  }
  top.chain->order.permutes_rows = true;
  // Functions make more rows of these, or fewer; nobody knows how many.
  const data::UnitSize read = size_in_sources(*top.chain);
  if (read.rows > 0 && read.bytes > 0) {
    const double row_bytes = static_cast<double>(read.bytes) / static_cast<double>(read.rows);
    const auto window = static_cast<std::int64_t>(row_bytes * static_cast<double>(*config_.shuffle_window_rows));
    top.chain->order.window_bytes = std::clamp<std::int64_t>(window, 1, config_.shuffled_bytes_max);
  }
  return arrow::Status::OK();
}

}  // namespace headway::flow
