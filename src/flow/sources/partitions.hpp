#pragma once

#include "flow/sources/files.hpp"
#include "flow/sources/read_options.hpp"

namespace headway::flow {

/// Sets what the paths of `found` say, as the option `partitioning` asks. Errors: Invalid, for an
/// option that does not fit and for files whose paths name different fields; these are named.
arrow::Status find_partitions(const OptionView& options, FoundFiles& found);

/// The value of one partition field in each of `rows` rows.
arrow::Result<std::shared_ptr<arrow::Array>> partition_column(const arrow::Field& field,
                                                              const std::optional<std::string>& value,
                                                              std::int64_t rows, arrow::MemoryPool* pool);

}  // namespace headway::flow
