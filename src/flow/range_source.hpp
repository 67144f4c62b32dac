#pragma once

#include "data/plan_nodes.hpp"
#include "flow/source.hpp"

#include <memory>

namespace headway::flow {

/// The numbers from 0: the column `id`, or `data` with tensors that have the number in each place.
arrow::Result<std::unique_ptr<Source>> open_range(const data::RangeNode& range);

}  // namespace headway::flow
