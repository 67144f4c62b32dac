#include "driver/run_folder.hpp"

#include "storage/storage.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/stat.h>

namespace headway::driver {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<void> RunFolder::prepare(const JsonObject& config) {
  struct stat found{};
  if (stat((path_ + "/run.json").c_str(), &found) == 0) {
    return Error{ErrorKind::already_exists,
                 "there is already a run in " + path_ +
                     "; choose another RunConfig.name or storage_path, or remove that folder"};
  }
  if (auto ok = storage::probe(path_); !ok) return ok;
  if (mkdir((path_ + "/logs").c_str(), 0755) != 0 && errno != EEXIST) {
    return Error{ErrorKind::unavailable, "cannot make " + path_ + "/logs: " + std::strerror(errno)};
  }
  return storage::replace_file(path_ + "/params.json", json_text(config) + "\n");
}

Result<void> RunFolder::append(const std::string& line) { return results_.append(line + "\n"); }

Result<void> RunFolder::write_journal(JsonObject snapshot) {
  snapshot["version"] = 1;
  snapshot["written_unix_s"] = unix_seconds();
  return storage::replace_file(path_ + "/run.json", json_text(snapshot) + "\n");
}

}  // namespace headway::driver
