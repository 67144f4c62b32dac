#pragma once

#include "storage/progress.hpp"

#include <headway/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headway::storage {

class File;

/// XXH3 (64 bits, seed 0) over bytes that come in order.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void add(std::span<const std::byte> bytes);
  /// "xxh3:" and 16 lower-case hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A page-aligned piece of memory to read into, given back when it goes.
class Buffer {
 public:
  /// Errors: `unavailable` when there is no memory.
  static Result<Buffer> make(std::size_t bytes);
  std::span<std::byte> span() const { return {data_.get(), bytes_}; }

 private:
  struct Free {
    std::size_t mapped_bytes;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_{nullptr, Free{0}};
  std::size_t bytes_ = 0;
};

/// How much is read and hashed in one step: fits the second-level cache, so hashing and writing
/// find the bytes there.
inline constexpr std::size_t step_bytes = std::size_t{1} << 20;

/// What a file's bytes are.
struct Content {
  std::uint64_t size = 0;
  std::string checksum;
};

/// Reads `file` from start to end, telling what is read.
Result<Content> read_content(const File& file, const OnBytes& on_bytes = {});

}  // namespace headway::storage
