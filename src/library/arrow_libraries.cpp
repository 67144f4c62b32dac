#include "library/arrow_libraries.hpp"

#include "core/location.hpp"
#include "library/worker_bridge.hpp"
#include "storage/remote/remote.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>

namespace headway::library {
namespace {

namespace fs = std::filesystem;

void find_libraries() {
  storage::ArrowLibraries found = storage::arrow_libraries_in(own_folder().string(), pyarrow_folder().string());
  if (storage::are_installed(found)) storage::set_arrow_libraries(std::move(found));
  // S3's threads must end before the libraries do; a worker leaves without destructors.
  if (worker_context() == nullptr && !in_validation()) storage::finish_remote_at_exit();
}

}  // namespace

fs::path own_folder() {
  static const int anchor = 0;
  Dl_info found{};
  if (dladdr(&anchor, &found) == 0) return {};
  std::error_code failure;
  const fs::path library = fs::canonical(found.dli_fname, failure);
  return failure ? fs::path() : library.parent_path();
}

fs::path pyarrow_folder() {
  // Once: a rank changes its directory, and the path may be relative.
  static const fs::path folder = [] {
    std::error_code failure;
    if (const char* said = std::getenv("HEADWAY_PYARROW")) return fs::absolute(said, failure);
    return own_folder().parent_path().parent_path() / "pyarrow";
  }();
  return folder;
}

void find_arrow() {
  static std::once_flag once;
  std::call_once(once, find_libraries);
}

void prepare_location(const std::string& location) {
  if (is_remote(location)) find_arrow();
}

}  // namespace headway::library
