#pragma once

#include "storage/remote/store.hpp"

#include <functional>
#include <memory>
#include <string>

/// From a location to its filesystem. This process's list of them: it begins empty, and what is
/// opened stays open to the end.
namespace headway::storage {

/// Where the two libraries lie that a URL needs.
struct ArrowLibraries {
  std::string library;    ///< libheadway_arrow.so.
  std::string directory;  ///< The pyarrow package, with libarrow.so in it.
};

/// Those of a program or library that lies in `folder`, with its own beside it.
ArrowLibraries arrow_libraries_in(const std::string& folder, std::string directory);

/// What has them, as pip calls it: "pyarrow==25.*".
std::string needed_pyarrow();

/// Whether both are there, Arrow's in the version that Headway was built with. Loads nothing.
bool are_installed(const ArrowLibraries& libraries);

/// To be called before the first URL is opened; the libraries are loaded then.
void set_arrow_libraries(ArrowLibraries libraries);

/// The filesystem of a URL: any path on it. Any thread may call it, several at once.
using OpenUrl = std::function<Result<std::shared_ptr<Files>>(const std::string& url)>;

/// To be called before the first URL is opened: `open` opens URLs from then on, and Arrow's
/// libraries are not loaded.
void set_url_opener(OpenUrl open);

/// Makes `scheme` ("python-1a2b3c4d") stand for a filesystem in this process. A second one of the
/// same scheme is taken for the same.
void register_files(const std::string& scheme, std::shared_ptr<Files> files);
bool is_registered(const std::string& scheme);

/// A place on a remote filesystem.
struct Remote {
  Store store;
  std::string path;
};

/// Errors: `invalid_argument` (a scheme that nobody knows, a URL that is malformed or has a '#', a
/// path with "." or ".." parts), `unavailable` (no pyarrow, or one of another version than Headway
/// was built with).
Result<Remote> open_remote(const std::string& location);

/// To be called once, at the end of a process, when nothing is under way. Does nothing if no URL
/// was ever opened.
void finish_remote();

/// From now on whoever opens a URL has that done when the process exits, before the libraries' own
/// ends: those that the loader brings later end sooner, so it is asked for after each was loaded.
void finish_remote_at_exit();

}  // namespace headway::storage
