#include "arrow/remote_files.hpp"

#include <headway/result.hpp>

#include <arrow/filesystem/api.h>
#include <arrow/filesystem/filesystem_library.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/config.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

namespace fs = arrow::fs;

char* to_error(headway::ErrorKind kind, const std::string& message) {
  return strdup((std::string(1, static_cast<char>('0' + static_cast<int>(kind))) + message).c_str());
}

headway::ErrorKind kind_of(const arrow::Status& status) {
  if (status.IsInvalid() || status.IsKeyError()) return headway::ErrorKind::invalid_argument;
  return headway::ErrorKind::unavailable;
}

/// S3 is a library of its own in the wheel; it registers its scheme once.
arrow::Status load_s3(const std::string& uri, const std::string& arrow_directory) {
  static std::once_flag once;
  static arrow::Status loaded;
  if (uri.rfind("s3://", 0) != 0) return arrow::Status::OK();
  std::call_once(once, [&] {
    const std::string version = std::to_string(ARROW_VERSION_MAJOR) + "00";
    loaded = fs::LoadFileSystemFactories((arrow_directory + "/libarrow_s3.so." + version).c_str());
  });
  return loaded;
}

arrow::Status download(const std::string& uri, const std::string& target, const std::string& arrow_directory) {
  ARROW_RETURN_NOT_OK(load_s3(uri, arrow_directory));
  std::string path;
  ARROW_ASSIGN_OR_RAISE(auto source, fs::FileSystemFromUri(uri, &path));
  ARROW_ASSIGN_OR_RAISE(auto info, source->GetFileInfo(path));
  if (info.type() != fs::FileType::Directory) return arrow::Status::KeyError("there is no directory ", uri);
  fs::FileSelector everything;
  everything.base_dir = path;
  everything.recursive = true;
  auto local = std::make_shared<fs::LocalFileSystem>();
  ARROW_RETURN_NOT_OK(local->CreateDir(target));
  return fs::CopyFiles(source, everything, local, target);
}

}  // namespace

char* headway_arrow_download(const char* uri, const char* target_directory, const char* arrow_directory) {
  const arrow::Status status = download(uri, target_directory, arrow_directory);
  if (status.ok()) return nullptr;
  const auto kind = status.IsKeyError() ? headway::ErrorKind::not_found : kind_of(status);
  return to_error(kind, std::string("cannot read ") + uri + ": " + status.message());
}

void headway_arrow_finalize() { fs::EnsureFinalized(); }
