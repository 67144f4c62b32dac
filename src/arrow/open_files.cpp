#include "arrow/open_files.hpp"

#include "arrow/arrow_files.hpp"

#include <arrow/filesystem/s3fs.h>

namespace headway::arrow_library {
namespace {

namespace fs = arrow::fs;

/// How long a server may take to join a large file's parts. For all else the SDK's own three
/// seconds hold, after which a silent request counts as lost: what asked for it is tried again, and
/// Ctrl-C waits for it.
constexpr double joining_max_s = 20;

using Opened = arrow::Result<std::shared_ptr<headway::storage::Files>>;

/// Within one request: a lost packet is not worth sending a large file anew. What lasts longer is
/// for storage/remote/retry.hpp, which reports it at once (the SDK takes six seconds to say that
/// nobody listens); so is silence, but for large files.
class BriefRetries : public fs::S3RetryStrategy {
 public:
  enum class AfterSilence { ask_again, tell };

  explicit BriefRetries(AfterSilence after_silence) : after_silence_(after_silence) {}

  bool ShouldRetry(const AWSErrorDetail& error, int64_t attempted_retries) override {
    const bool silent = error.message.find("curlCode: 28") != std::string::npos;
    if (silent && after_silence_ == AfterSilence::tell) return false;
    return error.should_retry && attempted_retries < 2;
  }
  int64_t CalculateDelayBeforeNextRetry(const AWSErrorDetail&, int64_t attempted_retries) override {
    return attempted_retries == 0 ? 50 : 200;
  }

 private:
  AfterSilence after_silence_;
};

/// Adds a setting to a URL's query that the user has not given.
void add_setting(std::string& url, const std::string& name, const std::string& value) {
  if (url.find(name + "=") != std::string::npos) return;
  url += url.find('?') == std::string::npos ? "?" : "&";
  url += name + "=" + value;
}

Opened open_s3(std::string url) {
  ARROW_RETURN_NOT_OK(fs::EnsureS3Initialized());
  // A small file is one request then, and not three.
  add_setting(url, "allow_delayed_open", "true");
  ARROW_ASSIGN_OR_RAISE(fs::S3Options options, fs::S3Options::FromUriAndOptions(url, {}));
  options.retry_strategy = std::make_shared<BriefRetries>(BriefRetries::AfterSilence::tell);
  ARROW_ASSIGN_OR_RAISE(auto filesystem, fs::S3FileSystem::Make(options));
  options.retry_strategy = std::make_shared<BriefRetries>(BriefRetries::AfterSilence::ask_again);
  options.request_timeout = joining_max_s;
  ARROW_ASSIGN_OR_RAISE(auto patient, fs::S3FileSystem::Make(options));
  return std::make_shared<ArrowFiles>(std::move(filesystem), std::move(patient));
}

/// Google's library tries for a quarter of an hour by itself, and storage/remote/retry.hpp five
/// times around it: no error would come within seconds when storage cannot be reached. It takes no
/// less than a second.
std::string for_google(std::string url) {
  add_setting(url, "retry_limit_seconds", "1");
  return url;
}

Opened open(const std::string& url) {
  if (url.starts_with("s3://")) return open_s3(url);
  const bool google = url.starts_with("gs://") || url.starts_with("gcs://");
  ARROW_ASSIGN_OR_RAISE(auto filesystem, fs::FileSystemFromUri(google ? for_google(url) : url));
  return std::make_shared<ArrowFiles>(std::move(filesystem));
}

}  // namespace
}  // namespace headway::arrow_library

bool headway_arrow_open(const std::string& url, std::shared_ptr<headway::storage::Files>* files,
                        headway::Error* error) {
  auto opened = headway::arrow_library::open(url);
  if (!opened.ok()) {
    *error = headway::arrow_library::to_error(opened.status());
    return false;
  }
  *files = *opened;
  return true;
}

void headway_arrow_finalize() { arrow::fs::EnsureFinalized(); }
