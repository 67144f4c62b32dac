#pragma once

#include "data/plan.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace headway::data {

/// Column names; nothing: all columns.
using ColumnsUsed = std::optional<std::set<std::string>>;

/// For each node of the plan, which of the columns that it gives the rest of the plan uses.
std::vector<ColumnsUsed> columns_used(const Plan& plan);

/// The expression with each column replaced by what makes it. A column that `made` does not name
/// stays.
Expression substituted(const Expression& expression, const std::map<std::string, Expression>& made);

}  // namespace headway::data
