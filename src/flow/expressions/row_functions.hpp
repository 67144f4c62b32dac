#pragma once

#include "flow/expressions/own_functions.hpp"

#include <cstdint>
#include <optional>

/// Values that depend on the place of a row: functions of (seed, epoch, unit, row), and of nothing
/// else, so that an epoch can be repeated row by row.
namespace headway::flow {

/// Doubles in [0, 1), of `seed` in place of the data set's, where it is given.
arrow::Result<arrow::Datum> random_values(std::optional<std::uint64_t> seed, const CallPlace& place);

/// Random UUIDs (version 4) as text.
arrow::Result<arrow::Datum> uuid_values(const CallPlace& place);

/// The unit · 2³³ + the row in it.
arrow::Result<arrow::Datum> increasing_ids(const CallPlace& place);

}  // namespace headway::flow
