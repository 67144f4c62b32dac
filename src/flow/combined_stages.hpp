#pragma once

#include "data/plan_nodes.hpp"
#include "flow/seen_rows.hpp"
#include "flow/stage.hpp"
#include "flow/unit_steps.hpp"

#include <cstdint>
#include <memory>
#include <vector>

/// Stages over other stages: what depends on the order of all rows before.
namespace headway::flow {

using Stages = std::vector<std::unique_ptr<Stage>>;

/// The first `rows` rows.
std::unique_ptr<Stage> limit_rows(std::unique_ptr<Stage> input, std::int64_t rows);

/// All rows of one input, then those of the next. Errors: inputs with other columns than the first.
std::unique_ptr<Stage> one_after_another(Stages inputs, SeenAt seen);

/// The columns of all inputs, row by row; a name that was there before gets `_1`, `_2` and so on.
/// Errors: an input with fewer rows than another.
std::unique_ptr<Stage> side_by_side(Stages inputs);

/// Rows of the inputs in turn: of any number of rows each input has given its part by weight, to
/// one row.
std::unique_ptr<Stage> mixed(Stages inputs, const data::MixNode& mix, SeenAt seen);

/// The steps on each unit of a stage, counted by `gauges`. `place` has what all units have in
/// common.
arrow::Result<std::unique_ptr<Stage>> with_steps(Budget& budget, ParallelLimits limits, std::unique_ptr<Stage> input,
                                                 UnitSteps steps, const UnitPlace& place,
                                                 const std::shared_ptr<FlowGauges>& flow, const StagePath& gauges);

}  // namespace headway::flow
