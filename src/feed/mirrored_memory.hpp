#pragma once

#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <cstddef>
#include <cstdint>

namespace headway::feed {

/// The bytes of a file mapped twice, one behind the other: a range that goes beyond the file's end
/// continues at its start. Unmapped with this object.
class MirroredMemory {
 public:
  MirroredMemory() = default;
  /// `bytes`: those of the file, whole pages. Errors: `unavailable`.
  static Result<MirroredMemory> map(const wire::Fd& file, std::uint64_t bytes);
  MirroredMemory(MirroredMemory&& other) noexcept;
  MirroredMemory& operator=(MirroredMemory&& other) noexcept;
  ~MirroredMemory();

  std::byte* start() const { return start_; }
  /// Of the file. Twice as many are mapped.
  std::uint64_t bytes() const { return bytes_; }

 private:
  MirroredMemory(std::byte* start, std::uint64_t bytes) : start_(start), bytes_(bytes) {}

  std::byte* start_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace headway::feed
