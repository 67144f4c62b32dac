#include "driver/working_directories.hpp"

#include "storage/directory.hpp"

#include <cerrno>
#include <unistd.h>

namespace headway::driver {

std::string WorkingDirectories::working_directory(const std::string& run_name, const std::string& trial_id) const {
  return root_.path() + "/working_dirs/" + run_name + "/" + trial_id;
}

Result<bool> WorkingDirectories::leave(const std::string& working_directory, bool synced) const {
  if (synced) {
    if (Result<void> removed = storage::remove_tree(working_directory); !removed) return removed.error();
  } else if (rmdir(working_directory.c_str()) != 0 && errno != ENOENT) {
    return true;
  }
  const std::string all_of_run = storage::parent_of(working_directory);
  rmdir(all_of_run.c_str());
  rmdir(storage::parent_of(all_of_run).c_str());
  return false;
}

}  // namespace headway::driver
