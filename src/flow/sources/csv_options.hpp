#pragma once

#include "data/plan_nodes.hpp"

#include <arrow/csv/options.h>
#include <arrow/result.h>

namespace headway::flow {

struct CsvOptions {
  arrow::csv::ReadOptions read;
  arrow::csv::ParseOptions parse;
  arrow::csv::ConvertOptions convert;
};

/// The options that `csv_format` names. Errors: values that do not fit.
arrow::Result<CsvOptions> csv_options(const data::ReadNode& read);

}  // namespace headway::flow
