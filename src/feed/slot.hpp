#pragma once

#include <headway/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The format of a batch in shared memory: a header, a table of nodes, a table of buffers, and the
/// bytes of the buffers. Nodes and buffers come in Arrow's order of a record batch: depth first, of
/// each array its validity, its offsets, its data. Both ends map the same memory, so numbers are in
/// the machine's own byte order.
namespace headway::feed {

/// Every buffer begins at a multiple of it, counted from the start of the slot.
inline constexpr std::size_t buffer_alignment = 64;
/// Where slots begin and end within the memory that two processes share.
inline constexpr std::size_t slot_alignment = 4096;
/// As bytes in memory: "HWSLOT" and the version of the format.
inline constexpr std::uint64_t slot_magic = 0x0001'544f'4c53'5748;

struct SlotHeader {
  std::uint64_t magic = slot_magic;
  std::int64_t rows = 0;
  std::uint32_t layout = 0;  ///< Layout::id.
  std::uint32_t nodes = 0;
  std::uint32_t buffers = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(SlotHeader) == 32);

/// One array: a column, or a child of another array.
struct SlotNode {
  std::int64_t length = 0;
  std::int64_t null_count = 0;
};

/// Where a buffer's bytes are, from the start of the slot. Offset 0: there is no such buffer. What
/// lies behind the slot's end lies in the stream's ring, as if that began there.
struct SlotBuffer {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Places buffers in a slot one after another.
class SlotPlan {
 public:
  SlotPlan(std::size_t nodes, std::size_t buffers);

  /// A buffer of `size` bytes. A buffer without bytes has a place too.
  SlotBuffer add(std::uint64_t size);
  /// A buffer that there is not: a validity bitmap where nothing is null.
  SlotBuffer add_absent();
  /// A buffer of `size` bytes that lies in the ring, so far from its start.
  void add_in_ring(std::uint64_t offset, std::uint64_t size);

  /// Those of a slot of so many bytes.
  std::vector<SlotBuffer> buffers_of(std::uint64_t slot_size) const;
  /// Bytes of the whole slot, a multiple of `slot_alignment`.
  std::uint64_t size() const;

 private:
  std::vector<SlotBuffer> buffers_;
  std::uint64_t end_ = 0;
  std::vector<std::size_t> in_ring_;
};

/// Writes header and tables to the start of a slot. `memory` has at least the plan's size.
void write_tables(std::span<std::byte> memory, std::int64_t rows, std::uint32_t layout, std::span<const SlotNode> nodes,
                  std::span<const SlotBuffer> buffers);

/// What a slot holds.
struct SlotView {
  SlotHeader header;
  std::vector<SlotNode> nodes;
  std::vector<SlotBuffer> buffers;
};

/// `memory` is the slot, behind which so many bytes of a ring may be named. Errors: `corrupted`,
/// when the tables or a buffer they name are not within them.
Result<SlotView> read_tables(std::span<const std::byte> memory, std::uint64_t ring_bytes = 0);

}  // namespace headway::feed
