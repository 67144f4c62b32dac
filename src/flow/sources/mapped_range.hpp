#pragma once

#include <arrow/buffer.h>
#include <arrow/result.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace headway::flow {

/// A range of a local file as memory, without a copy of it.
///
/// Where a page cannot be had, since the file was cut short meanwhile or its disk fails, the system
/// raises SIGBUS: the rest of the range is zeros from then on, and `broken` is set. Whoever has
/// read from it looks afterwards.
class MappedRange : public arrow::Buffer {
 public:
  /// `bytes` from `begin` on, of which the file has all now. Null: no range can be mapped any more;
  /// the file is to be read. `broken` outlives the range, and is set when a page is missing.
  static std::shared_ptr<MappedRange> map(int fd, std::int64_t begin, std::int64_t bytes,
                                          std::shared_ptr<std::atomic<bool>> broken);
  ~MappedRange() override;

 private:
  struct Place;
  MappedRange(std::uint8_t* pages, std::int64_t size, std::int64_t offset, std::int64_t bytes, Place* place,
              std::shared_ptr<std::atomic<bool>> broken)
      : Buffer(pages + offset, bytes), pages_(pages), size_of_pages_(size), place_(place), broken_(std::move(broken)) {}

  friend struct MappedPlaces;
  std::uint8_t* pages_;
  std::int64_t size_of_pages_;
  Place* place_;
  std::shared_ptr<std::atomic<bool>> broken_;
};

}  // namespace headway::flow
