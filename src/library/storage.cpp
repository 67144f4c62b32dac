#include <headway/storage.hpp>

#include "core/location.hpp"
#include "library/arrow_libraries.hpp"
#include "storage/remote/remote.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace headway {
namespace {

namespace fs = std::filesystem;

Result<void> check_name(const std::string& name) {
  const fs::path path(name);
  const bool leaves = std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  if (!name.empty() && !path.is_absolute() && !leaves) return {};
  return Error{
      ErrorKind::invalid_argument,
      "name is \"" + name + "\"; allowed: a relative name such as \"notes.txt\" or \"best/model.bin\", without \"..\""};
}

}  // namespace

Result<Storage> Storage::at(const std::string& location) {
  if (location.empty()) {
    return Error{ErrorKind::invalid_argument,
                 "location is empty; allowed: a path, or a URL such as \"s3://bucket/runs\""};
  }
  if (is_remote(location)) {
    library::prepare_location(location);
    if (const auto opened = storage::open_remote(location); !opened) return opened.error();
    return Storage(location);
  }
  std::string path = location;
  if (!scheme_of(location).empty()) {
    Result<std::string> local = local_path(location);
    if (!local) return local.error();
    path = *local;
  }
  std::error_code failure;
  const fs::path absolute = fs::absolute(path, failure);
  if (failure) return Error{ErrorKind::unavailable, path + ": " + failure.message()};
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return Storage(text);
}

Result<Storage> Storage::below(const std::string& name) const {
  if (auto ok = check_name(name); !ok) return ok.error();
  return Storage(join_location(location_, name));
}

Result<std::string> Storage::read(const std::string& name) const {
  if (auto ok = check_name(name); !ok) return ok.error();
  return storage::read_file(join_location(location_, name));
}

Result<void> Storage::write(const std::string& name, std::string_view bytes) const {
  if (auto ok = check_name(name); !ok) return ok.error();
  const std::string location = join_location(location_, name);
  if (!is_remote(location)) {
    std::error_code failure;
    fs::create_directories(fs::path(location).parent_path(), failure);
    if (failure) return Error{ErrorKind::unavailable, location + ": " + failure.message()};
  }
  return storage::replace_file(location, bytes);
}

Result<std::vector<std::string>> Storage::list() const {
  Result<std::vector<FileRecord>> files = storage::list_files(location_);
  if (!files) return files.error();
  std::vector<std::string> names;
  for (FileRecord& file : *files) names.push_back(std::move(file.name));
  return names;
}

}  // namespace headway
