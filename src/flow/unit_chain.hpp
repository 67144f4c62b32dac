#pragma once

#include "data/epoch_order.hpp"
#include "flow/parallel_stage.hpp"
#include "flow/source.hpp"
#include "flow/unit_steps.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace headway::flow {

/// A source and what is done with each of its units.
struct Leaf {
  std::shared_ptr<const Source> source;
  std::optional<std::vector<int>> columns;  ///< Unset: all.
  UnitSteps steps;
  /// Of each step: the number of the leaf's first unit in the data set that the step is about.
  /// Unions number units anew.
  std::vector<std::int64_t> first_units;
  StagePath gauges;        ///< Of the reading, and of each step.
  bool keeps_rows = true;  ///< Each unit has as many rows after the steps as before.
};

/// Units of one or more sources, in one order.
struct UnitChain {
  std::vector<std::shared_ptr<const Leaf>> leaves;
  data::OrderConfig order;
};

/// The units of all leaves, one leaf after the other, as far as the order depends on them.
std::vector<data::UnitSize> unit_sizes(const UnitChain& chain);
/// All units together, as their sources have them: before the steps.
data::UnitSize size_in_sources(const UnitChain& chain);

/// Schema of the rows; null when only rows show it. Errors: leaves that do not fit together.
arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(const UnitChain& chain);

/// Some of an order's parts.
struct PartRange {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// The parts of a lane from a window on; none where there is no such window.
PartRange parts_of_lane(const data::EpochOrder& order, int lane, std::uint32_t first_window);

/// Reads these parts in the order of `order`. The rows of a window come as they lie in the units.
/// Units that fit `ring`, which may be null, are made in it.
std::unique_ptr<Stage> read_units(Budget& budget, ParallelLimits limits, const UnitChain& chain,
                                  std::shared_ptr<const data::EpochOrder> order, PartRange parts,
                                  std::shared_ptr<arrow::Schema> schema, const std::shared_ptr<FlowGauges>& gauges,
                                  std::shared_ptr<SharedRing> ring = nullptr);

}  // namespace headway::flow
