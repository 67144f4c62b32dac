#pragma once

#include "flow/budget.hpp"
#include "flow/shared_ring.hpp"
#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <arrow/buffer.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace headway::flow {

/// A part of the memory that a client maps too.
struct Slot {
  std::int64_t id = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::span<std::byte> memory;
};

struct SlotsInUse {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};

/// Memory without a name that is shared with one client, cut into slots. It grows as slots are
/// wanted, and slots that came back are used again, because their pages are there already. Any
/// thread may call it.
class SlotMemory {
 public:
  /// The memory begins with `head_size` bytes that are no slot's. Slots are counted in `budget`,
  /// which outlives this. Errors: `unavailable`.
  static Result<std::unique_ptr<SlotMemory>> make(Budget& budget, std::uint64_t head_size);
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  /// A slot of at least `size` bytes. Errors: `unavailable`.
  Result<Slot> take(std::uint64_t size);
  /// Rows of slots may lie in this ring. Before the first `keep_with`.
  void set_ring(std::shared_ptr<SharedRing> ring) { ring_ = std::move(ring); }
  /// Keeps buffers of the ring until the slot comes back.
  void keep_with(std::int64_t id, std::vector<std::shared_ptr<arrow::Buffer>> buffers);
  /// The client has let it go. False when it is no slot that was taken.
  bool give_back(std::int64_t id);
  /// Gives up the memory of all slots that nobody uses.
  void drop_free_slots();
  /// That, and the memory of the ring that nobody uses.
  void drop_free();
  /// Whether a slot of this size is free already, or within the budget.
  bool has_room(std::uint64_t size);
  /// Slots that the client has, or will have.
  SlotsInUse in_use() const;

  /// A descriptor for the client.
  Result<wire::Fd> share() const;

  /// What the memory begins with.
  std::span<std::byte> head() const { return head_; }

  /// Bytes of all slots, in use or not.
  std::uint64_t bytes() const;

 private:
  SlotMemory(wire::Fd memory, Budget& budget) : memory_(std::move(memory)), budget_(budget) {}

  struct Known {
    Slot slot;
    bool in_use = false;
    Credit credit;
    std::vector<std::shared_ptr<arrow::Buffer>> in_ring = {};
  };
  Known* fitting(std::uint64_t size);
  void drop_slots();

  mutable std::mutex mutex_;
  const wire::Fd memory_;
  Budget& budget_;
  std::shared_ptr<SharedRing> ring_;
  std::span<std::byte> head_;
  std::uint64_t end_ = 0;  ///< Of the file. What is punched out of it is never used again.
  std::uint64_t bytes_ = 0;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Known> slots_;
};

}  // namespace headway::flow
