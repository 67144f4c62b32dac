#include "feed/stream_memory.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::feed {

StreamMemory::StreamMemory(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)), owner_(getpid()), cursor_(std::make_shared<const Json>(JsonObject())) {}

StreamMemory::~StreamMemory() {
  for (const auto& [id, mapped] : slots_) ::munmap(mapped.memory.data(), mapped.memory.size());
}

Result<void> StreamMemory::use(Opened opened, wire::Fd memory, wire::Fd doorbell, const wire::Fd& ring) {
  struct stat facts{};
  if (ring.is_open() && ::fstat(ring.get(), &facts) == 0) {
    Result<MirroredMemory> mapped = MirroredMemory::map(ring, static_cast<std::uint64_t>(facts.st_size));
    if (!mapped) return mapped.error();
    ring_ = std::move(*mapped);
  }
  Result<TakingEnd> rings = TakingEnd::map(memory, opened.rings_size, std::move(doorbell));
  if (!rings) return rings.error();
  const std::lock_guard lock(mutex_);
  memory_ = std::move(memory);
  rings_.emplace(std::move(*rings));
  if (opened.cursor.is_object()) cursor_ = std::make_shared<const Json>(std::move(opened.cursor));
  return {};
}

/// A slot's number stands for one place for ever, so what was mapped once stays mapped. A place
/// that the data process has given up costs addresses only.
Result<std::span<std::byte>> StreamMemory::slot(const BatchInSlot& place) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(place.slot);
  if (found != slots_.end() && found->second.offset == place.offset && found->second.memory.size() == place.size) {
    return found->second.memory;
  }
  struct stat facts{};
  if (found != slots_.end() || !memory_.is_open() || ::fstat(memory_.get(), &facts) != 0 ||
      place.offset + place.size > static_cast<std::uint64_t>(facts.st_size) || place.size == 0) {
    return Error{ErrorKind::corrupted, "the data process named a batch that its memory does not have"};
  }
  void* const mapped =
      ::mmap(nullptr, place.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), static_cast<off_t>(place.offset));
  if (mapped == MAP_FAILED) {
    return Error{ErrorKind::unavailable,
                 "cannot map a batch of " + std::to_string(place.size) + " bytes: " + wire::reason_of(errno)};
  }
  const std::span memory(static_cast<std::byte*>(mapped), place.size);
  slots_[place.slot] = {place.offset, memory};
  return memory;
}

void StreamMemory::release(std::int64_t slot) {
  // A forked child has copies of batches, which it may let go.
  if (getpid() != owner_) return;
  Release release;
  {
    const std::lock_guard lock(returning_);
    const TakingEnd::Returned returned = rings_->give_back(slot);
    if (returned == TakingEnd::Returned::quietly) return;
    if (returned == TakingEnd::Returned::by_message) release.slots.push_back(slot);
  }
  // A data process that has ended needs nothing back.
  (void)connection_->send(wire::to_frame(release));
}

}  // namespace headway::feed
