#include "flow/slot_memory.hpp"

#include "feed/slot.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace headway::flow {
namespace {

constexpr std::uint64_t page = feed::slot_alignment;

/// Batches of one stream differ a little in size: their slots should fit all of them.
std::uint64_t with_reserve(std::uint64_t size) { return (size + size / 8 + page - 1) / page * page; }

}  // namespace

Result<std::unique_ptr<SlotMemory>> SlotMemory::make(Budget& budget, std::uint64_t head_size) {
  wire::Fd memory(memfd_create("headway-batches", MFD_CLOEXEC));
  if (!memory.is_open()) {
    return Error{ErrorKind::unavailable, "cannot make memory for batches: " + wire::reason_of(errno)};
  }
  std::unique_ptr<SlotMemory> made(new SlotMemory(std::move(memory), budget));
  made->end_ = (head_size + page - 1) / page * page;
  void* const head = ftruncate(made->memory_.get(), static_cast<off_t>(made->end_)) != 0
                         ? MAP_FAILED
                         : mmap(nullptr, head_size, PROT_READ | PROT_WRITE, MAP_SHARED, made->memory_.get(), 0);
  if (head == MAP_FAILED) {
    return Error{ErrorKind::unavailable, "cannot map memory for batches: " + wire::reason_of(errno)};
  }
  made->head_ = {static_cast<std::byte*>(head), head_size};
  return made;
}

/// A batch that the client keeps keeps the memory's file: what nobody has goes all the same.
SlotMemory::~SlotMemory() {
  drop_slots();
  if (!head_.empty()) munmap(head_.data(), head_.size());
  for (const auto& [id, known] : slots_) {
    munmap(known.slot.memory.data(), known.slot.size);
    // The client may still look at batches that it has not given back.
    for (const auto& rows : known.in_ring) ring_->abandon(*rows);
  }
  if (ring_ != nullptr) ring_->drop_free();
}

SlotMemory::Known* SlotMemory::fitting(std::uint64_t size) {
  Known* best = nullptr;
  for (auto& [id, known] : slots_) {
    if (known.in_use || known.slot.size < size) continue;
    if (best == nullptr || known.slot.size < best->slot.size) best = &known;
  }
  return best;
}

void SlotMemory::drop_slots() {
  std::erase_if(slots_, [this](const auto& entry) {
    const Known& known = entry.second;
    if (known.in_use) return false;
    munmap(known.slot.memory.data(), known.slot.size);
    fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(known.slot.offset),
              static_cast<off_t>(known.slot.size));
    bytes_ -= known.slot.size;
    return true;
  });
}

void SlotMemory::drop_free_slots() {
  const std::lock_guard lock(mutex_);
  drop_slots();
}

void SlotMemory::drop_free() {
  drop_free_slots();
  if (ring_ != nullptr) ring_->drop_free();
}

bool SlotMemory::has_room(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  return fitting(size) != nullptr || budget_.taken() + static_cast<std::int64_t>(size) <= budget_.bytes();
}

SlotsInUse SlotMemory::in_use() const {
  const std::lock_guard lock(mutex_);
  SlotsInUse used;
  for (const auto& [id, known] : slots_) {
    if (!known.in_use) continue;
    ++used.count;
    used.bytes += known.slot.size;
  }
  return used;
}

Result<Slot> SlotMemory::take(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (Known* const known = fitting(size)) {
    known->in_use = true;
    return known->slot;
  }
  drop_slots();  // None of them was large enough: batches have grown.
  Slot slot;
  slot.id = ++last_id_;
  slot.offset = end_;
  slot.size = with_reserve(size);
  if (ftruncate(memory_.get(), static_cast<off_t>(end_ + slot.size)) != 0) {
    return Error{ErrorKind::unavailable, "cannot enlarge the memory for batches: " + wire::reason_of(errno)};
  }
  void* const mapped =
      mmap(nullptr, slot.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), static_cast<off_t>(slot.offset));
  if (mapped == MAP_FAILED) {
    return Error{ErrorKind::unavailable,
                 "cannot map memory for a batch of " + std::to_string(slot.size) + " bytes: " + wire::reason_of(errno)};
  }
  // All pages at once: each would be a separate fault. An old kernel makes them one by one.
  (void)madvise(mapped, size, MADV_POPULATE_WRITE);
  slot.memory = {static_cast<std::byte*>(mapped), slot.size};
  end_ += slot.size;
  bytes_ += slot.size;
  slots_[slot.id] = {slot, true, budget_.take(static_cast<std::int64_t>(slot.size))};
  return slot;
}

void SlotMemory::keep_with(std::int64_t id, std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  const std::lock_guard lock(mutex_);
  slots_.at(id).in_ring = std::move(buffers);
}

bool SlotMemory::give_back(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end() || !found->second.in_use) return false;
  found->second.in_use = false;
  found->second.in_ring.clear();
  return true;
}

Result<wire::Fd> SlotMemory::share() const {
  wire::Fd copy = memory_.copy();
  if (!copy.is_open()) {
    return Error{ErrorKind::unavailable, "cannot share the memory for batches: " + wire::reason_of(errno)};
  }
  return copy;
}

std::uint64_t SlotMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace headway::flow
