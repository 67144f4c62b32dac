#include <headway/data/dataset.hpp>

#include "library/data_client.hpp"
#include "library/plan_arguments.hpp"
#include "library/text_check.hpp"

namespace headway::data {
namespace {

const char* mode_text(SaveMode mode) {
  switch (mode) {
    case SaveMode::append: return "append";
    case SaveMode::create: return "create";
    case SaveMode::overwrite: return "overwrite";
    case SaveMode::ignore: return "ignore";
  }
  library::refuse("WriteOptions.mode is no SaveMode");
}

void add_rows(Json& options, const char* name, const std::optional<std::int64_t>& rows) {
  if (!rows) return;
  if (*rows < 1) {
    library::refuse(std::string("WriteOptions.") + name + " is " + std::to_string(*rows) +
                    "; allowed: none, or an integer above 0");
  }
  options[name] = *rows;
}

}  // namespace

void Dataset::write(const char* called, const char* format, const std::string& path, const WriteOptions& options,
                    Json more) const {
  add_rows(more, "min_rows_per_file", options.min_rows_per_file);
  add_rows(more, "max_rows_per_file", options.max_rows_per_file);
  if (options.min_rows_per_file.value_or(0) >
      options.max_rows_per_file.value_or(options.min_rows_per_file.value_or(0))) {
    library::refuse("WriteOptions.min_rows_per_file is " + std::to_string(*options.min_rows_per_file) +
                    "; allowed: at most max_rows_per_file, which is " + std::to_string(*options.max_rows_per_file));
  }
  const Dataset written = then(called, "write",
                               {{"format", format},
                                {"path", library::location_of("path", path)},
                                {"mode", mode_text(options.mode)},
                                {"options", std::move(more)}});
  library::run_data(written.plan_.dump()).value();
}

void Dataset::write_parquet(const std::string& path, const WriteOptions& options, const ParquetOptions& parquet) const {
  Json more = Json::object();
  if (!parquet.partition_cols.empty()) {
    more["partition_cols"] = library::column_names("ParquetOptions.partition_cols", parquet.partition_cols);
  }
  library::check_text("ParquetOptions.compression", parquet.compression).value();
  if (!parquet.compression.empty()) more["compression"] = parquet.compression;
  write("write_parquet", "parquet", path, options, std::move(more));
}

void Dataset::write_csv(const std::string& path, const WriteOptions& options) const {
  write("write_csv", "csv", path, options, Json::object());
}

void Dataset::write_json(const std::string& path, const WriteOptions& options) const {
  write("write_json", "json", path, options, Json::object());
}

void Dataset::write_orc(const std::string& path, const WriteOptions& options) const {
  write("write_orc", "orc", path, options, Json::object());
}

void Dataset::write_numpy(const std::string& path, const std::string& column, const WriteOptions& options) const {
  const Json names = library::column_names("column", {column});
  write("write_numpy", "numpy", path, options, Json::object({{"column", names.at(0)}}));
}

void Dataset::write_tfrecords(const std::string& path, const WriteOptions& options) const {
  write("write_tfrecords", "tfrecord", path, options, Json::object());
}

void Dataset::write_webdataset(const std::string& path, const WriteOptions& options) const {
  write("write_webdataset", "webdataset", path, options, Json::object());
}

}  // namespace headway::data
