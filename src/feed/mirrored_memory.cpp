#include "feed/mirrored_memory.hpp"

#include <cerrno>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace headway::feed {

Result<MirroredMemory> MirroredMemory::map(const wire::Fd& file, std::uint64_t bytes) {
  const auto not_mapped = [&] {
    return Error{ErrorKind::unavailable,
                 "cannot map " + std::to_string(bytes) + " bytes for rows: " + wire::reason_of(errno)};
  };
  void* const space = ::mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return not_mapped();
  auto* const start = static_cast<std::byte*>(space);
  MirroredMemory memory(start, bytes);
  for (std::byte* const at : {start, start + bytes}) {
    if (::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED)
      return not_mapped();
  }
  return memory;
}

MirroredMemory::MirroredMemory(MirroredMemory&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MirroredMemory& MirroredMemory::operator=(MirroredMemory&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MirroredMemory::~MirroredMemory() {
  if (start_ != nullptr) ::munmap(start_, 2 * bytes_);
}

}  // namespace headway::feed
