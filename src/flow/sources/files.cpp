#include "flow/sources/files.hpp"

#include "core/location.hpp"
#include "flow/sources/partitions.hpp"
#include "flow/sources/read_options.hpp"
#include "storage/remote/remote.hpp"

#include <arrow/status.h>
#include <arrow/util/io_util.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fnmatch.h>

namespace headway::flow {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string location;
  std::int64_t bytes = 0;
};
using Listed = arrow::Result<std::vector<Named>>;

bool is_hidden(const std::string& name) { return name.starts_with('.') || name.starts_with('_'); }

bool in_hidden_folder(std::string_view path) {
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (is_hidden(std::string(path.substr(begin, end - begin)))) return true;
    begin = end + 1;
  }
  return false;
}

/// Where a pattern begins: all before it names a directory.
std::size_t pattern_begin(const std::string& path) {
  const std::size_t wild = path.find_first_of("*?[");
  return wild == std::string::npos ? wild : path.rfind('/', wild) + 1;
}

/// Part by part, as a `*` does not cross a '/', but `**` does.
bool fits(std::string_view pattern, std::string_view path) {
  const std::size_t pattern_end = std::min(pattern.find('/'), pattern.size());
  const std::string part(pattern.substr(0, pattern_end));
  const std::string_view pattern_rest = pattern.substr(std::min(pattern_end + 1, pattern.size()));
  const std::size_t path_end = std::min(path.find('/'), path.size());
  const std::string_view path_rest = path.substr(std::min(path_end + 1, path.size()));
  if (part == "**") {
    if (pattern_rest.empty() || fits(pattern_rest, path)) return true;
    return !path_rest.empty() && fits(pattern, path_rest);
  }
  const std::string name(path.substr(0, path_end));
  if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) != 0) return false;
  if (pattern_rest.empty() || path_rest.empty()) return pattern_rest.empty() && path_rest.empty();
  return fits(pattern_rest, path_rest);
}

arrow::Status missing(const std::string& location) {
  std::error_code failure;
  const bool is_folder = fs::is_directory(location, failure);
  return arrow::internal::StatusFromErrno(ENOENT, arrow::StatusCode::IOError, "cannot read ",
                                          shown_location(users_path(location)),
                                          is_folder ? ": there is no file in this folder" : ": there is nothing");
}

Listed list_local_directory(const fs::path& directory) {
  std::vector<Named> found;
  std::error_code failure;
  auto each = fs::recursive_directory_iterator(directory, fs::directory_options::follow_directory_symlink, failure);
  for (; !failure && each != fs::recursive_directory_iterator(); each.increment(failure)) {
    if (is_hidden(each->path().filename().string())) {
      each.disable_recursion_pending();
      continue;
    }
    std::error_code unreadable;
    if (each->is_directory(unreadable)) continue;
    const auto bytes = each->file_size(unreadable);
    if (!unreadable) found.push_back({each->path().string(), static_cast<std::int64_t>(bytes)});
  }
  if (failure) return arrow::Status::IOError("cannot list ", directory.string(), ": ", failure.message());
  std::sort(found.begin(), found.end(), [](const Named& a, const Named& b) { return a.location < b.location; });
  return found;
}

/// What is at a local path; nothing: none.
Listed list_local(const std::string& location) {
  const Result<std::string> path = local_path(location);
  if (!path) return arrow::Status::Invalid(path.error().message);
  std::error_code failure;
  const fs::file_status status = fs::status(*path, failure);
  if (fs::is_directory(status)) return list_local_directory(*path);
  if (fs::exists(status)) {
    const auto bytes = fs::file_size(*path, failure);
    if (failure) return arrow::Status::IOError("cannot read ", *path, ": ", failure.message());
    return std::vector<Named>{{*path, static_cast<std::int64_t>(bytes)}};
  }
  const std::size_t pattern = pattern_begin(*path);
  if (pattern == std::string::npos) return std::vector<Named>();
  const fs::path directory = pattern > 1 ? path->substr(0, pattern - 1) : (pattern == 1 ? "/" : ".");
  if (!fs::is_directory(directory, failure)) return std::vector<Named>();
  ARROW_ASSIGN_OR_RAISE(std::vector<Named> all, list_local_directory(directory));
  const std::string wanted = path->substr(pattern);
  std::erase_if(all, [&](const Named& one) {
    return !fits(wanted, std::string_view(one.location).substr(std::min(pattern, one.location.size())));
  });
  return all;
}

/// The files below a remote directory that fit; `pattern` may be empty.
Listed list_remote_directory(const std::string& location, const storage::Remote& remote, const std::string& pattern) {
  const auto entries = remote.store.list(remote.path, true);
  if (!entries) return arrow::Status::IOError(entries.error().message);
  std::vector<Named> found;
  for (const storage::Entry& entry : *entries) {
    if (entry.directory || in_hidden_folder(entry.name)) continue;
    if (!pattern.empty() && !fits(pattern, entry.name)) continue;
    found.push_back({join_location(location, entry.name), static_cast<std::int64_t>(entry.size)});
  }
  std::sort(found.begin(), found.end(), [](const Named& a, const Named& b) { return a.location < b.location; });
  return found;
}

Listed list_remote(const std::string& location) {
  const std::size_t query = std::min(location.find('?', location.find("://")), location.size());
  const std::size_t wild = location.substr(0, query).find_first_of("*[");
  if (wild != std::string::npos) {
    const std::size_t begin = location.rfind('/', wild);
    const std::string directory = location.substr(0, begin) + location.substr(query);
    const Result<storage::Remote> remote = storage::open_remote(directory);
    if (!remote) return arrow::Status::Invalid(remote.error().message);
    return list_remote_directory(directory, *remote, location.substr(begin + 1, query - begin - 1));
  }
  const Result<storage::Remote> remote = storage::open_remote(location);
  if (!remote) return arrow::Status::Invalid(remote.error().message);
  const auto entry = remote->store.info(remote->path);
  if (entry && !entry->directory) return std::vector<Named>{{location, static_cast<std::int64_t>(entry->size)}};
  if (!entry && entry.error().kind != ErrorKind::not_found) return arrow::Status::IOError(entry.error().message);
  return list_remote_directory(location, *remote, "");
}

bool has_extension(const std::string& location, const std::vector<std::string>& extensions) {
  std::string name = name_of(location);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const std::string& one) { return name.ends_with(one.starts_with('.') ? one : "." + one); });
}

arrow::Status add_path(const std::string& path, const std::optional<std::vector<std::string>>& extensions,
                       bool ignore_missing, std::vector<SourceFile>& files) {
  ARROW_ASSIGN_OR_RAISE(std::vector<Named> listed, is_remote(path) ? list_remote(path) : list_local(path));
  if (listed.empty() && !ignore_missing) return missing(path);
  for (Named& one : listed) {
    if (extensions && !has_extension(one.location, *extensions)) {
      if (listed.size() == 1 && one.location == path) {
        return arrow::Status::Invalid("the file ", shown_location(users_path(path)),
                                      " has none of the endings that are read; file_extensions says which they are");
      }
      continue;
    }
    files.push_back({std::move(one.location), one.bytes, {}});
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<FoundFiles> find_files(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  ARROW_ASSIGN_OR_RAISE(const auto extensions, options.texts("file_extensions"));
  ARROW_ASSIGN_OR_RAISE(const bool ignore_missing, options.flag("ignore_missing_paths", false));
  FoundFiles found;
  for (const std::string& path : read.paths) {
    ARROW_RETURN_NOT_OK(add_path(path, extensions, ignore_missing, found.files));
  }
  if (found.files.empty()) {
    std::string paths;
    for (const std::string& path : read.paths) paths += (paths.empty() ? "" : ", ") + shown_location(users_path(path));
    std::string endings;
    for (const std::string& one : extensions.value_or(std::vector<std::string>())) {
      endings += (endings.empty() ? "" : ", ") + one;
    }
    if (endings.empty()) return arrow::Status::IOError("there is no file to read in ", paths);
    return arrow::Status::IOError("there is no file to read in ", paths, " whose name ends in ", endings,
                                  "; file_extensions says which endings are read");
  }
  ARROW_RETURN_NOT_OK(find_partitions(options, found));
  return found;
}

}  // namespace headway::flow
