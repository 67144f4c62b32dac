#include "driver/folder_sync.hpp"

#include "core/location.hpp"
#include "core/manifest.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"
#include "storage/storage.hpp"

#include <filesystem>
#include <optional>

namespace headway::driver {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

/// Regular files and links to them, by their names below the directory. What vanishes meanwhile is
/// not missed.
std::vector<std::string> FolderSync::files() const {
  std::vector<std::string> names;
  std::error_code failure;
  fs::recursive_directory_iterator walk(directory_, fs::directory_options::skip_permission_denied, failure);
  for (; !failure && walk != fs::recursive_directory_iterator(); walk.increment(failure)) {
    std::error_code vanished;
    const std::string name = walk->path().string().substr(directory_.size() + 1);
    const bool own =
        walk->path().filename().string().starts_with(part_prefix) || name == "run.json" || name == "status.json";
    if (!own && walk->is_regular_file(vanished)) names.push_back(name);
  }
  return names;
}

Result<void> FolderSync::bring_one(const std::string& name, Sent& sent, bool everything) const {
  const std::string path = storage::join(directory_, name);
  struct ::stat now{};
  if (::stat(path.c_str(), &now) != 0) return {};
  const bool same = now.st_size == sent.size && now.st_mtim.tv_sec == sent.changed.tv_sec &&
                    now.st_mtim.tv_nsec == sent.changed.tv_nsec;
  const steady_clock::time_point begun = steady_clock::now();
  if (same || (!everything && begun < sent.rests_until)) return {};
  if (Result<void> put = storage::put_file(path, join_location(location_, name)); !put) return put;
  constexpr int rest = 10;
  const steady_clock::time_point done = steady_clock::now();
  sent = {now.st_size, now.st_mtim, done + rest * (done - begun)};
  return {};
}

Result<void> FolderSync::bring(bool everything) {
  const std::vector<std::string> names = files();
  std::vector<Sent*> sent;
  for (const std::string& name : names) sent.push_back(&sent_[name]);
  std::vector<std::optional<Error>> errors(names.size());
  const Result<void> through = storage::parallel_for(names.size(), 4, [&](std::size_t index) {
    Result<void> brought = bring_one(names[index], *sent[index], everything);
    if (brought) return brought;
    // When storage can't be reached for now, the others would each wait for it as long.
    if (brought.error().kind == ErrorKind::unavailable) return brought;
    errors[index] = brought.error();
    return Result<void>();
  });
  if (!through) return through;
  for (const std::optional<Error>& error : errors) {
    if (error) return *error;
  }
  return {};
}

}  // namespace headway::driver
