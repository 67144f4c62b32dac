#include "storage/disk/checksum.hpp"

#include "storage/disk/file.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace headway::storage {

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::add(std::span<const std::byte> bytes) { XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size()); }

std::string Checksum::text() const {
  char digits[24];
  std::snprintf(digits, sizeof digits, "xxh3:%016llx",
                static_cast<unsigned long long>(XXH3_64bits_digest(&state_->xxh3)));
  return digits;
}

void Buffer::Free::operator()(std::byte* data) const {
  if (mapped_bytes > 0) {
    ::munmap(data, mapped_bytes);
  } else {
    std::free(data);
  }
}

Result<Buffer> Buffer::make(std::size_t bytes) {
  constexpr std::size_t page_bytes = 4096;
  Buffer buffer;
  buffer.bytes_ = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (buffer.bytes_ > step_bytes) {
    // Straight from the system, and back to it: the C library would keep a few for each thread that
    // ever had one.
    void* mapped = ::mmap(nullptr, buffer.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) buffer.data_ = {static_cast<std::byte*>(mapped), Free{buffer.bytes_}};
  } else {
    buffer.data_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, buffer.bytes_)));
  }
  if (buffer.data_ == nullptr) {
    return Error{ErrorKind::unavailable,
                 "out of memory: " + std::to_string(buffer.bytes_) + " bytes for a file buffer"};
  }
  return buffer;
}

Result<Content> read_content(const File& file, const OnBytes& on_bytes) {
  const Result<struct ::stat> status = file.status();
  if (!status) return status.error();
  const auto expected = static_cast<std::size_t>(status->st_size);
  const Result<Buffer> buffer = Buffer::make(std::min(step_bytes, expected + 1));
  if (!buffer) return buffer.error();
  Checksum checksum;
  Content content;
  for (;;) {
    const Result<std::size_t> got = file.read_at(buffer->span(), content.size);
    if (!got) return got.error();
    checksum.add(buffer->span().first(*got));
    content.size += *got;
    if (on_bytes) on_bytes(*got);
    if (*got < buffer->span().size()) break;
  }
  content.checksum = checksum.text();
  return content;
}

}  // namespace headway::storage
