#pragma once

#include "storage/disk/lock_file.hpp"

#include <functional>
#include <string>

namespace headway::storage {

/// A local copy of a directory elsewhere, downloaded once on this machine however many processes
/// ask for it: the first one downloads, the others wait and share its files, and the last one to
/// finish removes them. For reading only.
///
/// It is right whenever whichever participant is killed. Below `base` each location has two files
/// beside its directory. `.gate` is locked by who comes, goes or sweeps; a downloader holds it
/// until the files are whole. `.use` is shared by all who use the files; whoever gets it alone
/// knows that nobody does, and that what lies there is what a killed process left.
///
/// Example:
///
///     Result<SharedDownload> files = SharedDownload::get(*base, "s3://bucket/c", [](const std::string& directory) { ... });
///     if (files) read(files->directory() + "/model.pt");
class SharedDownload {
 public:
  /// Brings the location's files into a directory that is there and empty. Called at most once.
  using Fetch = std::function<Result<void>(const std::string& directory)>;

  /// Blocks while it, or another process, downloads; any thread. Also removes what killed processes
  /// left of other locations. `location` tells directories apart; equal ones are shared.
  /// Errors: those of `fetch` (nothing is left, and who waits tries itself); `unavailable` (no
  /// space, permission); `aborted` when `interrupted` says so while waiting.
  static Result<SharedDownload> get(const std::string& base, const std::string& location, const Fetch& fetch,
                                    const Interrupted& interrupted = {});

  SharedDownload(SharedDownload&&) noexcept = default;
  SharedDownload& operator=(SharedDownload&& other) noexcept;
  /// As `release`.
  ~SharedDownload();

  /// Where the files are.
  const std::string& directory() const { return directory_; }

  /// The files are not needed any more: removes them if nobody else uses them. Again: nothing
  /// happens. In a child that was forked meanwhile: nothing happens, they are its parent's.
  void release();

 private:
  SharedDownload(std::string directory, LockFile use) : directory_(std::move(directory)), use_(std::move(use)) {}

  std::string directory_;
  LockFile use_;
};

/// This user's directory for downloads on this machine, below $TMPDIR or /tmp; made when missing,
/// closed to others.
/// Errors: `unavailable`, also when something that is another user's has its name.
Result<std::string> downloads_directory();

/// Removes downloads below `base` whose users were all killed. Those in use are left alone.
void sweep_downloads(const std::string& base);

/// The same for this user's directory; nothing is made when it is not there.
void sweep_downloads();

}  // namespace headway::storage
