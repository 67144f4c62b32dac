#include "library/python_interpreter.hpp"

#include "node/process.hpp"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace headway::library {

namespace fs = std::filesystem;

Result<std::string> python_interpreter(const std::string& package_folder) {
  const fs::path package = package_folder;
  std::error_code failure;
  const char* variable = std::getenv("HEADWAY_PYTHON");
  const std::string named = variable == nullptr ? "" : variable;
  if (!named.empty()) {
    const std::string path = fs::absolute(named, failure).string();
    if (access(path.c_str(), X_OK) == 0) return path;
    return Error{ErrorKind::invalid_argument,
                 "HEADWAY_PYTHON is \"" + named +
                     "\", which is no program; allowed: the path of a Python interpreter that has the package headway"};
  }
  // PREFIX/lib/python3.11/site-packages/headway
  const fs::path version = package.parent_path().parent_path();
  const fs::path own = version.parent_path().parent_path() / "bin" / version.filename();
  if (!version.filename().string().starts_with("python")) return std::string();
  return fs::exists(own, failure) ? own.string() : node::program_on_path(version.filename().string());
}

}  // namespace headway::library
