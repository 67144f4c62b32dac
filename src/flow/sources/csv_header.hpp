#pragma once

#include <arrow/csv/options.h>
#include <arrow/io/type_fwd.h>
#include <arrow/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headway::flow {

/// The names of a CSV file's columns, and where its rows begin.
struct CsvHeader {
  std::vector<std::string> names;
  std::int64_t rows_begin = 0;
};

/// Reads it from the file's begin, as `read` and `parse` say where the names stand. Errors: Invalid
/// for a file without a first row, or with a name twice.
arrow::Result<CsvHeader> read_csv_header(arrow::io::InputStream& file, const arrow::csv::ReadOptions& read,
                                         const arrow::csv::ParseOptions& parse);

}  // namespace headway::flow
