#include "storage/remote.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace headway::storage {
namespace {

using Download = char* (*)(const char*, const char*, const char*);
using Finalize = void (*)();

struct ArrowLibrary {
  Download download = nullptr;
  Finalize finalize = nullptr;
};

std::mutex mutex;
ArrowLibrary loaded;

Error load_error() {
  const char* why = dlerror();
  return {ErrorKind::unavailable,
          std::string("reading URLs needs pyarrow of the version that Headway was built with (pip install "
                      "'pyarrow==" HEADWAY_PYARROW_SERIES "'): ") +
              (why != nullptr ? why : "it is not installed")};
}

/// The wheel's libarrow first, by its path: the loader then takes it for the name that our library asks for.
Result<ArrowLibrary> load(const ArrowLocation& arrow) {
  const std::lock_guard lock(mutex);
  if (loaded.download != nullptr) return loaded;
  const std::string libarrow = arrow.directory + "/" HEADWAY_LIBARROW_NAME;
  if (dlopen(libarrow.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return load_error();
  void* library = dlopen(arrow.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return load_error();
  auto* download = reinterpret_cast<Download>(dlsym(library, "headway_arrow_download"));
  auto* finalize = reinterpret_cast<Finalize>(dlsym(library, "headway_arrow_finalize"));
  if (download == nullptr || finalize == nullptr) return load_error();
  loaded = {download, finalize};
  return loaded;
}

}  // namespace

bool is_url(const std::string& location) { return location.find("://") != std::string::npos; }

Result<void> download_url(const std::string& url, const std::string& target_directory, const ArrowLocation& arrow) {
  Result<ArrowLibrary> library = load(arrow);
  if (!library) return library.error();
  char* failure = library->download(url.c_str(), target_directory.c_str(), arrow.directory.c_str());
  if (failure == nullptr) return {};
  Error error{static_cast<ErrorKind>(failure[0] - '0'), failure + 1};
  std::free(failure);
  return error;
}

void finish_remote() {
  const std::lock_guard lock(mutex);
  if (loaded.finalize != nullptr) loaded.finalize();
}

}  // namespace headway::storage
