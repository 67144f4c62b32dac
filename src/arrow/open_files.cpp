#include "arrow/open_files.hpp"

#include "arrow/arrow_files.hpp"

#include <arrow/filesystem/filesystem_library.h>
#include <arrow/filesystem/s3fs.h>
#include <arrow/util/config.h>

#include <any>
#include <mutex>

namespace headway::arrow_library {
namespace {

namespace fs = arrow::fs;

/// Within one request: a lost packet is not worth sending a large file anew. What lasts longer is for storage/retry.hpp, which is
/// told at once (the SDK's own way takes six seconds to say that nobody listens). Arrow takes it from its version 26 on.
class [[maybe_unused]] BriefRetries : public fs::S3RetryStrategy {
 public:
  bool ShouldRetry(const AWSErrorDetail& error, int64_t attempted_retries) override {
    return error.should_retry && attempted_retries < 2;
  }
  int64_t CalculateDelayBeforeNextRetry(const AWSErrorDetail&, int64_t attempted_retries) override {
    return attempted_retries == 0 ? 50 : 200;
  }
};

/// S3 is a library of its own in the wheel; it registers its scheme once.
arrow::Status load_s3(const std::string& arrow_directory) {
  static std::once_flag once;
  static arrow::Status loaded;
  std::call_once(once, [&] {
    const std::string version = std::to_string(ARROW_VERSION_MAJOR) + "00";
    loaded = fs::LoadFileSystemFactories((arrow_directory + "/libarrow_s3.so." + version).c_str());
  });
  return loaded;
}

/// Adds a setting to a URL's query that the user has not given.
void add_setting(std::string& url, const std::string& name, const std::string& value) {
  if (url.find(name + "=") != std::string::npos) return;
  url += url.find('?') == std::string::npos ? "?" : "&";
  url += name + "=" + value;
}

arrow::Result<std::shared_ptr<fs::FileSystem>> open_s3(std::string url, const std::string& arrow_directory) {
  ARROW_RETURN_NOT_OK(load_s3(arrow_directory));
  // A small file is one request then, and not three.
  add_setting(url, "allow_delayed_open", "true");
#if ARROW_VERSION_MAJOR >= 26
  const std::shared_ptr<fs::S3RetryStrategy> retries = std::make_shared<BriefRetries>();
  return fs::FileSystemFromUriAndOptions(url, {{"retry_strategy", std::any(retries)}});
#else
  return fs::FileSystemFromUri(url);
#endif
}

/// Google's library tries for a quarter of an hour by itself: nobody would be told within seconds that storage is away.
arrow::Result<std::shared_ptr<fs::FileSystem>> open_google(std::string url) {
  add_setting(url, "retry_limit_seconds", "5");
  return fs::FileSystemFromUri(url);
}

arrow::Result<std::shared_ptr<fs::FileSystem>> open(const std::string& url, const std::string& arrow_directory) {
  if (url.starts_with("s3://")) return open_s3(url, arrow_directory);
  if (url.starts_with("gs://") || url.starts_with("gcs://")) return open_google(url);
  return fs::FileSystemFromUri(url);
}

}  // namespace
}  // namespace headway::arrow_library

bool headway_arrow_open(const std::string& url, const std::string& arrow_directory,
                        std::shared_ptr<headway::storage::Files>* files, headway::Error* error) {
  auto opened = headway::arrow_library::open(url, arrow_directory);
  if (!opened.ok()) {
    *error = headway::arrow_library::to_error(opened.status());
    return false;
  }
  *files = std::make_shared<headway::arrow_library::ArrowFiles>(std::move(*opened));
  return true;
}

void headway_arrow_finalize() { arrow::fs::EnsureFinalized(); }
