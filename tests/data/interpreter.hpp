#pragma once

#include "data/plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::data {

/// Rows of whole numbers and nulls, in units, as a plan's definition has them: slow and simple.
struct Table {
  using Value = std::optional<std::int64_t>;
  using Row = std::vector<Value>;
  std::vector<std::string> columns;
  std::vector<std::vector<Row>> units;

  /// All rows, whatever the units.
  std::vector<Row> rows() const;
  std::size_t place_of(const std::string& column) const;  ///< Throws when there is none.
};

/// What a plan gives. A read's path names one of `files`. Functions are known by their blob:
/// 0 map: adds 1 to the first column; 1 map_batches: subtracts the batch's least value of the first
/// column; 2 flat_map: doubles rows whose first column is odd; 3 filter: the first column is not a
/// multiple of 3.
Table interpret(const Plan& plan, const std::map<std::string, Table>& files);

}  // namespace headway::data
