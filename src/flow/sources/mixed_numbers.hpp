#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <string>
#include <string_view>
#include <vector>

/// Integers among fractions: both are doubles, which lack integers beyond 2^53.
namespace headway::flow {

/// Columns of `table` whose types are wider than in `narrow`, and that have doubles so large that
/// the text may have had another integer.
std::vector<std::string> columns_to_check(const arrow::Table& table, const arrow::Schema& narrow);

/// Errors: Invalid for an integer of these columns that is another number as a double. `lines` is a
/// JSON object a line.
arrow::Status check_json_integers(std::string_view lines, const std::vector<std::string>& columns);

/// Likewise, for columns that were read as text.
arrow::Status check_text_integers(const arrow::Table& texts);

}  // namespace headway::flow
