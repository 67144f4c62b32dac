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

}  // namespace

arrow::Result<std::unique_ptr<Source>> open_source(const data::ReadNode& node, arrow::MemoryPool* pool,
                                                   std::int64_t errored_max, std::shared_ptr<WiderTypes> wider) {
  const auto* found =
      std::find_if(formats.begin(), formats.end(), [&](const KnownFormat& one) { return one.name == node.format; });
  if (found == formats.end()) return arrow::Status::NotImplemented("nothing reads the format ", node.format);
  ARROW_ASSIGN_OR_RAISE(auto format, found->make(node));
  return open_file_source(node, std::move(format), pool, errored_max, std::move(wider));
}

}  // namespace headway::flow
