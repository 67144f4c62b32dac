#pragma once

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Tar archives (POSIX.1-1988 ustar; long names of GNU and of POSIX.1-2001 are read).
namespace headway::flow {

struct TarFile {
  std::string name;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// The regular files of an archive, in order.
class TarReader {
 public:
  explicit TarReader(std::shared_ptr<arrow::io::InputStream> stream) : stream_(std::move(stream)) {}

  /// Nothing at the end. Errors: Invalid for what is no archive, or one that ends early.
  arrow::Result<std::optional<TarFile>> next();

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> content(std::int64_t bytes);

  std::shared_ptr<arrow::io::InputStream> stream_;
};

/// A file with its header, as it stands in an archive. Names have at most 255 bytes. Errors:
/// Invalid for a longer one.
arrow::Status append_tar_file(std::string_view name, std::string_view bytes, std::string& out);

/// What ends an archive.
std::string tar_end();

}  // namespace headway::flow
