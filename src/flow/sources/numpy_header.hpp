#pragma once

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The .npy format (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
namespace headway::flow {

struct NumpyHeader {
  std::shared_ptr<arrow::DataType> value_type;
  std::int64_t value_bytes = 0;
  std::vector<std::int64_t> shape;
  std::int64_t data_begin = 0;
  bool columns_first = false;  ///< The first index is the one that changes from value to value.
  bool swapped = false;        ///< The most significant byte of a number comes first.

  /// Indices of the first dimension; an array without dimensions has one.
  std::int64_t rows() const;
  std::int64_t values_of_a_row() const;
  /// Fixed-shape tensors where there is more than one dimension.
  std::shared_ptr<arrow::DataType> row_type() const;
};

/// Errors: Invalid for what is no .npy file, and for arrays that Arrow has no values for: Python
/// objects, records, text and complex numbers.
arrow::Result<NumpyHeader> read_numpy_header(arrow::io::RandomAccessFile& file);

/// The header of a file of version 1.0 for values of `type` in this shape. Errors: NotImplemented.
arrow::Result<std::string> numpy_header_text(const arrow::DataType& type, const std::vector<std::int64_t>& shape);

}  // namespace headway::flow
