#include "feed/slot.hpp"

#include <cstring>
#include <string>

namespace headway::feed {
namespace {

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t tables_size(std::size_t nodes, std::size_t buffers) {
  return sizeof(SlotHeader) + nodes * sizeof(SlotNode) + buffers * sizeof(SlotBuffer);
}

Error damaged_slot(const std::string& what) {
  return {ErrorKind::corrupted, "a batch in shared memory is damaged: " + what};
}

}  // namespace

SlotPlan::SlotPlan(std::size_t nodes, std::size_t buffers)
    : end_(rounded_up(tables_size(nodes, buffers), buffer_alignment)) {
  buffers_.reserve(buffers);
}

SlotBuffer SlotPlan::add(std::uint64_t size) {
  const SlotBuffer buffer{end_, size};
  end_ = rounded_up(end_ + size, buffer_alignment);
  buffers_.push_back(buffer);
  return buffer;
}

SlotBuffer SlotPlan::add_absent() { return buffers_.emplace_back(); }

void SlotPlan::add_in_ring(std::uint64_t offset, std::uint64_t size) {
  in_ring_.push_back(buffers_.size());
  buffers_.push_back({offset, size});
}

std::vector<SlotBuffer> SlotPlan::buffers_of(std::uint64_t slot_size) const {
  std::vector<SlotBuffer> buffers = buffers_;
  for (const std::size_t index : in_ring_) buffers[index].offset += slot_size;
  return buffers;
}

std::uint64_t SlotPlan::size() const { return rounded_up(end_, slot_alignment); }

void write_tables(std::span<std::byte> memory, std::int64_t rows, std::uint32_t layout, std::span<const SlotNode> nodes,
                  std::span<const SlotBuffer> buffers) {
  SlotHeader header;
  header.rows = rows;
  header.layout = layout;
  header.nodes = static_cast<std::uint32_t>(nodes.size());
  header.buffers = static_cast<std::uint32_t>(buffers.size());
  std::byte* to = memory.data();
  std::memcpy(to, &header, sizeof(header));
  to += sizeof(header);
  if (!nodes.empty()) std::memcpy(to, nodes.data(), nodes.size_bytes());
  to += nodes.size_bytes();
  if (!buffers.empty()) std::memcpy(to, buffers.data(), buffers.size_bytes());
}

Result<SlotView> read_tables(std::span<const std::byte> memory, std::uint64_t ring_bytes) {
  SlotView view;
  if (memory.size() < sizeof(SlotHeader)) return damaged_slot("it is shorter than its header");
  std::memcpy(&view.header, memory.data(), sizeof(SlotHeader));
  if (view.header.magic != slot_magic) return damaged_slot("it does not begin with the format's magic number");
  if (view.header.rows < 0) return damaged_slot("it has a negative number of rows");
  if (tables_size(view.header.nodes, view.header.buffers) > memory.size()) {
    return damaged_slot("its tables are longer than the slot");
  }
  view.nodes.resize(view.header.nodes);
  view.buffers.resize(view.header.buffers);
  const std::byte* from = memory.data() + sizeof(SlotHeader);
  if (!view.nodes.empty()) std::memcpy(view.nodes.data(), from, view.nodes.size() * sizeof(SlotNode));
  from += view.nodes.size() * sizeof(SlotNode);
  if (!view.buffers.empty()) std::memcpy(view.buffers.data(), from, view.buffers.size() * sizeof(SlotBuffer));
  for (const SlotBuffer& buffer : view.buffers) {
    const std::uint64_t end = buffer.offset < memory.size() ? memory.size() : memory.size() + ring_bytes;
    if (buffer.offset > end || buffer.size > end - buffer.offset) {
      return damaged_slot("a buffer of it ends beyond the slot");
    }
  }
  return view;
}

}  // namespace headway::feed
