#pragma once

#include "flow/sources/file_format.hpp"

#include <arrow/result.h>

#include <memory>

/// The formats of files. Each takes its options from `read.options`, under the names that are
/// written here; an option of another kind is an error that names it, and what a format does not
/// know is for others (`columns`, `include_paths`, …).
namespace headway::flow {

using FormatResult = arrow::Result<std::unique_ptr<FileFormat>>;

/// Options as pyarrow.csv has them: column_names, autogenerate_column_names, skip_rows,
/// skip_rows_after_names; delimiter, quote_char (false: none), double_quote, escape_char (false:
/// none), ignore_empty_lines, newlines_in_values; column_types ({name: type}), null_values,
/// true_values, false_values, strings_can_be_null, quoted_strings_can_be_null, decimal_point,
/// check_utf8.
///
/// Types are those of samples: the begin of the first file, and of parts of others. Large files are
/// read in parts. A line end within quotes belongs to its value; with `newlines_in_values` a file
/// is never cut, for those in which quotes are hard to tell apart.
FormatResult csv_format(const data::ReadNode& read);

/// `column_types` ({name: type}) and `lines` (true: each line is an object, and a file is never
/// looked into to find out). A file is JSON lines, a list of objects, or one object after another.
FormatResult json_format(const data::ReadNode& read);

/// `encoding` ("utf-8") and `drop_empty_lines` (true): the column `text`.
FormatResult text_format(const data::ReadNode& read);

/// The column `bytes`, one row a file.
FormatResult binary_format(const data::ReadNode& read);

/// .npy files: the column `data`, one row for each index of the first dimension. Tensors of the
/// others have Arrow's type fixed_shape_tensor.
FormatResult numpy_format(const data::ReadNode& read);

/// `size` ([height, width]) and `mode` ("RGB" or "L"): the column `image` of bytes in the shape
/// (height, width, 3), or (height, width) for "L"; without `mode` as the first file has it. With
/// `size` the type is fixed_shape_tensor, and images are resized as Pillow's BILINEAR does it; else
/// variable_shape_tensor.
FormatResult image_format(const data::ReadNode& read);

/// `tf_schema` ({name: type}, where a list type means any number of values): one column for each
/// feature of tf.train.Example. Without it types are those of a sample of the first file: a feature
/// that always has one value is that value, else a list.
FormatResult tfrecord_format(const data::ReadNode& read);

/// Tar files of samples: the column `__key__` and one binary column for each suffix. `suffixes`
/// (["jpg", "cls"]) says which; without it those of a sample of the first file.
FormatResult webdataset_format(const data::ReadNode& read);

/// Stripes.
FormatResult orc_format(const data::ReadNode& read);

/// Row groups. One with more than 64 MiB is decoded in parts of 64 Ki rows.
FormatResult parquet_format(const data::ReadNode& read);

/// Arrow IPC: files in the file format, cut into parts of `unit_bytes`, or in the stream format.
FormatResult arrow_format(const data::ReadNode& read);

}  // namespace headway::flow
