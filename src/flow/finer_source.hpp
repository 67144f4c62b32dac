#pragma once

#include "flow/source.hpp"

#include <cstdint>
#include <memory>

namespace headway::flow {

/// The rows of a source in units of `rows` rows, so that several workers have something to do where
/// there are few. A unit of `source` ends one of these, too, so the last one of each may have
/// fewer. Reading a part of a unit reads the unit, so that must cost nothing: rows in memory, or
/// computed. Null where the number of rows of a unit is not known.
std::shared_ptr<const Source> in_finer_units(std::shared_ptr<const Source> source, std::int64_t rows);

}  // namespace headway::flow
