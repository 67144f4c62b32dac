#pragma once

#include "flow/expressions/evaluator.hpp"

#include <arrow/datum.h>
#include <arrow/result.h>

#include <boost/json/value.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// The functions that Arrow lacks, or has with another meaning.
namespace headway::flow {

struct CallPlace {
  const RowPlace& rows;
  std::int64_t row_count;
  arrow::MemoryPool* pool;
};

using OwnFunction = std::function<arrow::Result<arrow::Datum>(const std::vector<arrow::Datum>&, const CallPlace&)>;

/// The function of this name with its options and number of arguments checked; nothing when there
/// is none.
arrow::Result<std::optional<OwnFunction>> own_function(const std::string& name, std::size_t arguments,
                                                       const boost::json::object& options);

}  // namespace headway::flow
