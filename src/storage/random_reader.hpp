#pragma once

#include "storage/remote/remote.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headway::storage {

/// Reads parts of one file at a location: a local file by pread, another one by requests for
/// ranges, with retries as other reads have. Any number of threads may read at once.
///
/// Errors: `not_found` when there is no such file; `invalid_argument` when it is a directory or
/// something else that cannot be read so; `corrupted` when the file has become shorter since it was
/// opened, or has another size when it is opened again after a failure; else as other reads have
/// them.
class RandomReader {
 public:
  static Result<RandomReader> open(const std::string& location);
  /// The same, by a store (for tests).
  static Result<RandomReader> open(const Remote& remote);

  RandomReader(RandomReader&&) noexcept;
  RandomReader& operator=(RandomReader&&) noexcept;
  ~RandomReader();

  /// Bytes, as of when it was opened.
  std::uint64_t size() const;

  /// The bytes from `offset` on. Returns how many: fewer than asked only at the file's end.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) const;

 private:
  class Source;
  class LocalSource;
  class RemoteSource;
  explicit RandomReader(std::unique_ptr<Source> source);

  std::unique_ptr<Source> source_;
};

}  // namespace headway::storage
