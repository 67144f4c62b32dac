#pragma once

#include <headway/result.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What a remote filesystem must be able to do for checkpoints to be kept on it: little enough that
/// anything has it. There is no rename, no lock and no append. Implemented over Arrow's filesystems
/// (arrow/) and over Python's (bindings/).
///
/// Paths are the filesystem's own ("bucket/run/model.pt"), without scheme. All functions block and
/// may be called from several threads at once. Errors give the reason alone; who calls adds what
/// was tried and where. Their kinds:
///   `unavailable`: it may go better next time (network, throttling, a time-out);
///   `refused`: it will not (rights, credentials, no such bucket, a full disk);
///   `not_found`: the path is not there; `invalid_argument`: the path can't be one.
namespace headway::storage {

/// Reads a file from its start. Goes before its filesystem does.
class Reader {
 public:
  virtual ~Reader() = default;
  /// The next bytes; fewer than asked only at the file's end.
  virtual Result<std::size_t> read(std::span<std::byte> buffer) = 0;
};

/// Reads a file anywhere. Goes before its filesystem does. Several threads may read at once.
class RandomFile {
 public:
  virtual ~RandomFile() = default;
  /// Bytes, as of when it was opened.
  virtual std::uint64_t size() const = 0;
  /// The bytes from `offset` on; fewer than asked only at the file's end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) = 0;
};

/// Writes a new file, or one in the place of another. Without `finish` nothing promises that the
/// file is there; what was written is given up when the writer goes.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  virtual Result<void> finish() = 0;
};

struct Entry {
  std::string name;  ///< Relative to the directory that was listed; "" from `info`.
  bool directory = false;
  std::uint64_t size = 0;  ///< Bytes; of a directory 0.
};

class Files {
 public:
  virtual ~Files() = default;

  /// The path that a location of this filesystem stands for.
  virtual Result<std::string> path_of(const std::string& location) = 0;
  /// A path as people know it: "s3://bucket/run".
  virtual std::string shown(const std::string& path) = 0;

  virtual Result<Entry> info(const std::string& path) = 0;
  /// What lies in a directory, or all below it, in any order. Not there: nothing.
  virtual Result<std::vector<Entry>> list(const std::string& path, bool recursive) = 0;
  virtual Result<std::unique_ptr<Reader>> open_reader(const std::string& path) = 0;
  virtual Result<std::unique_ptr<RandomFile>> open_random(const std::string& path) = 0;
  /// How large a file may be.
  virtual std::uint64_t file_bytes_max() const { return std::numeric_limits<std::uint64_t>::max(); }
  /// For a file of `size` bytes. At most `memory_bytes` (and one piece that was handed to `write`)
  /// are held at a time.
  virtual Result<std::unique_ptr<Writer>> open_writer(const std::string& path, std::uint64_t size,
                                                      std::size_t memory_bytes) = 0;
  /// With those above it. Nothing where directories need not be made, and when it is there.
  virtual Result<void> make_directory(const std::string& path) = 0;
  /// Not there: nothing happens.
  virtual Result<void> remove_file(const std::string& path) = 0;
  /// A directory with all below it, in no order. Not there: nothing happens.
  virtual Result<void> remove_tree(const std::string& path) = 0;
};

/// Whether the words of an error that comes without a kind say that trying again is of no use:
/// object stores' SDKs tell their reasons by name only.
bool is_lasting_reason(const std::string& words);

}  // namespace headway::storage
