#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::data {

/// What a write does where there are files already.
enum class SaveMode {
  append,     ///< Adds files.
  create,     ///< Throws `BadResult` (`invalid_argument`).
  overwrite,  ///< Replaces the folder by what is written, once that is whole.
  ignore,     ///< Writes nothing.
};

/// What all writers of files have.
struct WriteOptions {
  SaveMode mode = SaveMode::append;
  std::optional<std::int64_t> min_rows_per_file = std::nullopt;  ///< But for the last file.
  std::optional<std::int64_t> max_rows_per_file = std::nullopt;
};

/// How Parquet files are written.
struct ParquetOptions {
  std::vector<std::string> partition_cols = {};  ///< Their values are folders such as `year=2026`.
  std::string compression = "";                  ///< Such as "zstd"; empty: "snappy".
};

}  // namespace headway::data
