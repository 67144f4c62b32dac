#include "storage/remote/remote.hpp"

#include "core/location.hpp"
#include "core/may_block.hpp"

#include <cstdlib>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>

namespace headway::storage {
namespace {

/// As arrow/open_files.hpp declares them.
using Open = bool (*)(const std::string& url, std::shared_ptr<Files>* files, Error* error);
using Finalize = void (*)();

/// In the order in which they are loaded.
constexpr const char* arrow_names[] = {HEADWAY_LIBARROW_NAMES};

struct Process {
  std::mutex mutex;
  ArrowLibraries libraries;
  OpenUrl open_url;
  Open open = nullptr;
  Finalize finalize = nullptr;
  bool finish_at_exit = false;
  /// By scheme, or by all of a URL but its path.
  std::map<std::string, std::shared_ptr<Files>> files;
};

/// Never destroyed: filesystems of Python must not be given back when the interpreter is gone.
Process& process() {
  static auto* one = new Process;
  return *one;
}

Error load_error() {
  const char* why = dlerror();
  return {ErrorKind::refused, std::string("URLs need pyarrow of the version that Headway was built with (pip install "
                                          "'pyarrow==" HEADWAY_PYARROW_SERIES "'): ") +
                                  (why != nullptr ? why : "it is not installed")};
}

/// The wheel's libraries first, by their paths: the loader then takes them for the names that our
/// library asks for.
Result<void> load(Process& here) {
  if (here.open != nullptr) return {};
  may_block("Arrow's libraries are loaded");
  if (here.libraries.library.empty()) {
    return Error{ErrorKind::refused,
                 "URLs need pyarrow, which is not installed: pip install 'pyarrow==" HEADWAY_PYARROW_SERIES
                 "' (for C++ programs HEADWAY_PYARROW may name its folder)"};
  }
  for (const char* name : arrow_names) {
    const std::string path = here.libraries.directory + "/" + name;
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return load_error();
  }
  void* library = dlopen(here.libraries.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return load_error();
  here.open = reinterpret_cast<Open>(dlsym(library, "headway_arrow_open"));
  here.finalize = reinterpret_cast<Finalize>(dlsym(library, "headway_arrow_finalize"));
  if (here.open == nullptr || here.finalize == nullptr) return load_error();
  return {};
}

/// What tells one filesystem from another: all of a URL but its path.
std::string key_of(const std::string& location) {
  const std::string_view scheme = scheme_of(location);
  if (scheme.starts_with(python_scheme_prefix)) return std::string(scheme);
  const std::size_t query = std::min(location.find('?'), location.size());
  const std::size_t slash = std::min(location.find('/', scheme.size() + 3), query);
  return location.substr(0, slash) + location.substr(query);
}

/// Without the lock while it opens: Python's side of it takes the interpreter's, under which others
/// take ours.
Result<std::shared_ptr<Files>> files_by(const OpenUrl& open_url, const std::string& key, const std::string& location) {
  may_block("a URL is opened");
  Result<std::shared_ptr<Files>> opened = open_url(location);
  if (!opened) return opened;
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  return here.files.emplace(key, *opened).first->second;
}

Result<std::shared_ptr<Files>> files_for(const std::string& location) {
  Process& here = process();
  std::unique_lock lock(here.mutex);
  const std::string key = key_of(location);
  if (const auto found = here.files.find(key); found != here.files.end()) return found->second;
  if (key.starts_with(python_scheme_prefix)) {
    return Error{ErrorKind::invalid_argument,
                 location + " lies on a Python filesystem that this process does not have; give the filesystem again"};
  }
  if (here.open_url) {
    lock.unlock();
    return files_by(here.open_url, key, location);
  }
  if (Result<void> loaded = load(here); !loaded) return loaded.error();
  std::shared_ptr<Files> files;
  Error error;
  if (!here.open(location, &files, &error)) return error;
  if (here.finish_at_exit) std::atexit(finish_remote);
  here.files[key] = files;
  return files;
}

/// Whether a part of the path is "." or "..". Object stores have such names as they are, and HTTP
/// clients resolve them: what was written would not be found again.
bool has_dots(std::string_view path) {
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, slash - start);
    if (part == "." || part == "..") return true;
    start = slash + 1;
  }
  return false;
}

}  // namespace

ArrowLibraries arrow_libraries_in(const std::string& folder, std::string directory) {
  return {folder + "/libheadway_arrow.so", std::move(directory)};
}

std::string needed_pyarrow() { return "pyarrow==" HEADWAY_PYARROW_SERIES; }

bool are_installed(const ArrowLibraries& libraries) {
  std::error_code failure;
  const auto is_there = [&](const std::string& file) { return std::filesystem::exists(file, failure); };
  return is_there(libraries.library) &&
         std::ranges::all_of(arrow_names, [&](const char* name) { return is_there(libraries.directory + "/" + name); });
}

void set_arrow_libraries(ArrowLibraries libraries) {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  here.libraries = std::move(libraries);
}

void set_url_opener(OpenUrl open) {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  here.open_url = std::move(open);
}

void register_files(const std::string& scheme, std::shared_ptr<Files> files) {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  here.files.emplace(scheme, std::move(files));
}

bool is_registered(const std::string& scheme) {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  return here.files.contains(scheme);
}

Result<Remote> open_remote(const std::string& location) {
  if (!scheme_of(location).starts_with(python_scheme_prefix) && location.find('#') != std::string::npos) {
    return Error{ErrorKind::invalid_argument,
                 "cannot use " + shown_location(location) +
                     ": allowed: a URL without '#', which would end its path (in a path it is %23)"};
  }
  const Result<std::shared_ptr<Files>> files = files_for(location);
  if (!files) {
    return Error{files.error().kind, "cannot use " + shown_location(location) + ": " + files.error().message};
  }
  Result<std::string> path = (*files)->path_of(location);
  if (!path) return Error{path.error().kind, "cannot use " + shown_location(location) + ": " + path.error().message};
  if (has_dots(*path)) {
    return Error{ErrorKind::invalid_argument, "cannot use " + shown_location(location) +
                                                  ": allowed: a path without '.' and '..' between its slashes"};
  }
  return Remote{Store(*files, policy_from_environment(), real_patience()), std::move(*path)};
}

void finish_remote() {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  if (here.finalize != nullptr) here.finalize();
}

void finish_remote_at_exit() {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  here.finish_at_exit = true;
}

}  // namespace headway::storage
