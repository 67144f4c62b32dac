#include "flow/source.hpp"
#include "flow/sources/formats.hpp"

#include <arrow/status.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace headway::flow {
namespace {

struct KnownFormat {
  std::string_view name;
  FormatResult (*make)(const data::ReadNode&);
};

constexpr std::array<KnownFormat, 11> formats = {{{"arrow", arrow_format},
                                                  {"binary", binary_format},
                                                  {"csv", csv_format},
                                                  {"images", image_format},
                                                  {"json", json_format},
                                                  {"numpy", numpy_format},
                                                  {"orc", orc_format},
                                                  {"parquet", parquet_format},
                                                  {"text", text_format},
                                                  {"tfrecord", tfrecord_format},
                                                  {"webdataset", webdataset_format}}};

FormatResult format_of(const data::ReadNode& node) {
  const auto* found =
      std::find_if(formats.begin(), formats.end(), [&](const KnownFormat& one) { return one.name == node.format; });
  if (found == formats.end()) return arrow::Status::NotImplemented("nothing reads the format ", node.format);
  return found->make(node);
}

/// Formats whose first file alone decides the schema.
constexpr std::array<std::string_view, 4> by_first_file = {"arrow", "numpy", "orc", "parquet"};

}  // namespace

arrow::Result<std::unique_ptr<Source>> open_source(const data::ReadNode& node, arrow::MemoryPool* pool,
                                                   std::int64_t errored_max, std::shared_ptr<SeenRows> wider) {
  ARROW_ASSIGN_OR_RAISE(auto format, format_of(node));
  return open_file_source(node, std::move(format), pool, errored_max, std::move(wider));
}

arrow::Result<std::shared_ptr<arrow::Schema>> schema_of_files(const data::ReadNode& node, arrow::MemoryPool* pool,
                                                              std::int64_t errored_max,
                                                              std::shared_ptr<SeenRows> wider) {
  data::ReadNode read = node;
  if (std::ranges::count(by_first_file, read.format) > 0 && !read.paths.empty()) read.paths.resize(1);
  auto format = format_of(read);
  if (!format.ok()) return nullptr;
  return schema_of_file_source(read, format.MoveValueUnsafe(), pool, errored_max, std::move(wider));
}

}  // namespace headway::flow
