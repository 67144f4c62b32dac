#include "storage/disk/direct_copy.hpp"

#include "storage/disk/copy.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <semaphore>
#include <thread>

namespace headway::storage {

namespace {

constexpr std::uint64_t direct_bytes_min = std::uint64_t{16} << 20;
/// Direct writes begin and end at multiples of it.
constexpr std::uint64_t block_bytes = 4096;
constexpr long xfs_magic = 0x58465342;

void end_direct(const File& to) {
  const int flags = ::fcntl(to.descriptor(), F_GETFL);
  if (flags >= 0) ::fcntl(to.descriptor(), F_SETFL, flags & ~O_DIRECT);
}

/// Two buffers that go round between the thread that fills them and the one that writes them.
class Pipeline {
 public:
  Pipeline(const File& to, std::uint64_t size, std::span<const Buffer> buffers)
      : to_(to), size_(size), buffers_(buffers), blocks_(size / block_bytes * block_bytes), writer_([this] {
          write_all();
        }) {}
  ~Pipeline() { stop(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// How many bytes go through here: whole blocks.
  std::uint64_t blocks() const { return blocks_; }

  /// The piece of memory for the bytes at `offset`, once it is free; empty when writing has failed.
  std::span<std::byte> wait_for_space(std::uint64_t offset) {
    free_.acquire();
    return failed_ ? std::span<std::byte>() : piece(offset);
  }
  void filled() { full_.release(); }

  /// Waits for what was filled to be written.
  Result<void> finish() {
    writer_.join();
    return outcome_;
  }

 private:
  std::span<std::byte> piece(std::uint64_t offset) const {
    return buffers_[offset / step_bytes % 2].span().first(std::min<std::uint64_t>(step_bytes, blocks_ - offset));
  }

  void write_all() {
    for (std::uint64_t offset = 0; offset < blocks_; offset += step_bytes) {
      full_.acquire();
      if (stopped_) return;
      outcome_ = write_at(offset);
      if (!outcome_) failed_ = true;
      free_.release();
      if (failed_) return;
    }
  }

  Result<void> write_at(std::uint64_t offset) {
    if (to_.write_at(piece(offset), offset, size_)) return {};
    // Should the device want another alignment, the page cache takes it; a full disk says so once
    // more.
    end_direct(to_);
    return to_.write_at(piece(offset), offset, size_);
  }

  void stop() {
    if (!writer_.joinable()) return;
    stopped_ = true;
    full_.release();
    writer_.join();
  }

  const File& to_;
  const std::uint64_t size_;
  const std::span<const Buffer> buffers_;
  const std::uint64_t blocks_;
  std::counting_semaphore<4> free_{2};
  std::counting_semaphore<4> full_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopped_{false};
  Result<void> outcome_;
  std::thread writer_;  // Last: it uses all of the above.
};

}  // namespace

bool begin_direct(const File& to, std::uint64_t size) {
  if (size < direct_bytes_min) return false;
  struct ::statfs volume = {};
  if (::fstatfs(to.descriptor(), &volume) != 0) return false;
  if (volume.f_type != EXT4_SUPER_MAGIC && volume.f_type != xfs_magic) return false;
  const int flags = ::fcntl(to.descriptor(), F_GETFL);
  return flags >= 0 && ::fcntl(to.descriptor(), F_SETFL, flags | O_DIRECT) == 0;
}

Result<Content> copy_content_direct(const File& from, const File& to, std::uint64_t size, const OnBytes& on_bytes) {
  std::array<Buffer, 2> buffers;
  for (Buffer& buffer : buffers) {
    Result<Buffer> made = Buffer::make(step_bytes);
    if (!made) return made.error();
    buffer = std::move(*made);
  }
  Checksum checksum;
  Pipeline pipeline(to, size, buffers);
  for (std::uint64_t offset = 0; offset < pipeline.blocks(); offset += step_bytes) {
    const std::span<std::byte> piece = pipeline.wait_for_space(offset);
    if (piece.empty()) break;
    if (Result<void> got = read_exactly(from, piece, offset, size); !got) return got.error();
    checksum.add(piece);
    pipeline.filled();
    if (on_bytes) on_bytes(piece.size());
  }
  if (Result<void> written = pipeline.finish(); !written) return written.error();
  end_direct(to);
  const std::span<std::byte> rest = buffers[0].span().first(size - pipeline.blocks());
  if (Result<void> got = read_exactly(from, rest, pipeline.blocks(), size); !got) return got.error();
  checksum.add(rest);
  if (Result<void> written = to.write_at(rest, pipeline.blocks(), size); !written) return written.error();
  if (on_bytes) on_bytes(rest.size());
  return Content{size, checksum.text()};
}

}  // namespace headway::storage
