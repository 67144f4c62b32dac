#pragma once

#include <arrow/compute/type_fwd.h>
#include <arrow/result.h>

#include <boost/json/value.hpp>

#include <memory>
#include <string>

/// The options of Arrow's compute functions from JSON.
namespace headway::flow {

/// The options of `function` under the names that pyarrow.compute gives them, for instance
/// `{"pattern": "a", "ignore_case": true}` for `match_substring`. Null when the function has none,
/// or none are given and it has defaults.
///
/// Errors: Invalid for an option that the function lacks, one that it needs, or one of another
/// kind; each names the function and the option.
arrow::Result<std::shared_ptr<arrow::compute::FunctionOptions>> options_of(const std::string& function,
                                                                           const boost::json::object& options);

}  // namespace headway::flow
