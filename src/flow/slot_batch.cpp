#include "flow/slot_batch.hpp"

#include <arrow/array/array_base.h>
#include <arrow/array/data.h>
#include <arrow/extension_type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <cstring>
#include <limits>

namespace headway::flow {
namespace {

using arrow::Type;

/// A run of values of one array, from its buffers' start.
struct Run {
  const arrow::ArrayData* data = nullptr;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};
using Runs = std::vector<Run>;

const arrow::DataType& storage_of(const arrow::DataType& type) {
  const arrow::DataType* inner = &type;
  while (inner->id() == Type::EXTENSION) {
    inner = static_cast<const arrow::ExtensionType*>(inner)->storage_type().get();
  }
  return *inner;
}

struct Counts {
  std::size_t nodes = 0;
  std::size_t buffers = 0;
};

void count(const arrow::DataType& type, Counts& counts) {
  const arrow::DataType& storage = storage_of(type);
  ++counts.nodes;
  counts.buffers += storage.layout().buffers.size();
  for (const auto& field : storage.fields()) count(*field->type(), counts);
}

Counts counts_of(const arrow::Schema& schema) {
  Counts counts;
  for (const auto& field : schema.fields()) count(*field->type(), counts);
  return counts;
}

const std::uint8_t* bytes_of(const arrow::ArrayData& data, std::size_t buffer) {
  return buffer < data.buffers.size() && data.buffers[buffer] ? data.buffers[buffer]->data() : nullptr;
}

std::int64_t length_of(const Runs& runs) {
  std::int64_t length = 0;
  for (const Run& run : runs) length += run.length;
  return length;
}

std::int64_t nulls_of(const Run& run) {
  const std::uint8_t* validity = bytes_of(*run.data, 0);
  if (validity == nullptr) return 0;
  return run.length - arrow::internal::CountSetBits(validity, run.offset, run.length);
}

/// Where the values of all runs begin, if they lie side by side in the ring; else null.
const std::uint8_t* start_in_ring(const Runs& runs, std::int64_t width, const SharedRing& ring) {
  const std::uint8_t* start = nullptr;
  const std::uint8_t* end = nullptr;
  for (const Run& run : runs) {
    if (run.length == 0) continue;
    const std::uint8_t* const values = bytes_of(*run.data, 1);
    const std::uint8_t* const from = values == nullptr ? nullptr : values + run.offset * width;
    if (from == nullptr || !ring.has(from, run.length * width)) return nullptr;
    if (end != nullptr && ring.offset_of(from) != ring.offset_of(end)) return nullptr;
    if (start == nullptr) start = from;
    end = from + run.length * width;
  }
  return start;
}

/// The values that the offsets of a list or text name.
template <class Offset>
Run named_by_offsets(const Run& run, const arrow::ArrayData* child) {
  const auto* offsets = reinterpret_cast<const Offset*>(bytes_of(*run.data, 1));
  if (run.length == 0 || offsets == nullptr) return {child, 0, 0};
  return {child, offsets[run.offset], offsets[run.offset + run.length] - offsets[run.offset]};
}

}  // namespace

/// Goes through the columns depth first, as slots have them.
class SlotPlanner {
 public:
  SlotPlanner(SlotBatch& batch, SharedRing* ring) : batch_(batch), ring_(ring) {}

  arrow::Status add(const arrow::DataType& logical, const Runs& runs) {
    const arrow::DataType& type = storage_of(logical);
    add_node(type, runs);
    switch (type.id()) {
      case Type::NA: return arrow::Status::OK();
      case Type::BOOL: add_copy(SlotBatch::Kind::bits, (length_of(runs) + 7) / 8, 1, values(runs)); break;
      case Type::STRING:
      case Type::BINARY: return add_text<std::int32_t>(runs);
      case Type::LARGE_STRING:
      case Type::LARGE_BINARY: return add_text<std::int64_t>(runs);
      case Type::LIST:
      case Type::MAP: return add_list<std::int32_t>(type, runs);
      case Type::LARGE_LIST: return add_list<std::int64_t>(type, runs);
      case Type::FIXED_SIZE_LIST: return add_fixed_list(static_cast<const arrow::FixedSizeListType&>(type), runs);
      case Type::STRUCT: return add_struct(type, runs);
      default: return add_fixed_width(type, runs);
    }
    return arrow::Status::OK();
  }

 private:
  using Ranges = std::vector<SlotBatch::Range>;

  static Ranges values(const Runs& runs) {
    Ranges ranges;
    for (const Run& run : runs) ranges.push_back({bytes_of(*run.data, 1), run.offset, run.length});
    return ranges;
  }

  void add_copy(SlotBatch::Kind kind, std::int64_t size, std::int64_t width, Ranges ranges) {
    const feed::SlotBuffer to = batch_.plan_.add(static_cast<std::uint64_t>(size));
    batch_.copies_.push_back({kind, width, to, std::move(ranges)});
  }

  /// The node, and the validity as the first buffer of each type that has one.
  void add_node(const arrow::DataType& type, const Runs& runs) {
    const std::int64_t length = length_of(runs);
    std::int64_t nulls = 0;
    if (type.id() == Type::NA) {
      nulls = length;
    } else {
      for (const Run& run : runs) nulls += nulls_of(run);
    }
    batch_.nodes_.push_back({length, nulls});
    if (nulls == 0 || type.id() == Type::NA) {
      batch_.plan_.add_absent();
      return;
    }
    Ranges ranges;
    for (const Run& run : runs) ranges.push_back({bytes_of(*run.data, 0), run.offset, run.length});
    add_copy(SlotBatch::Kind::bits, (length + 7) / 8, 1, std::move(ranges));
  }

  arrow::Status add_fixed_width(const arrow::DataType& type, const Runs& runs) {
    const std::int64_t width = type.byte_width();
    if (type.layout().buffers.size() != 2 || width < 0) {
      return arrow::Status::NotImplemented("columns of type ", type.ToString(), " cannot be given to a consumer");
    }
    const std::int64_t alignment = type.id() == Type::FIXED_SIZE_BINARY ? 1 : width;
    if (!leave_in_ring(runs, width, alignment)) {
      add_copy(SlotBatch::Kind::bytes, length_of(runs) * width, width, values(runs));
    }
    return arrow::Status::OK();
  }

  /// False: the values are copied.
  bool leave_in_ring(const Runs& runs, std::int64_t width, std::int64_t alignment) {
    const std::int64_t size = length_of(runs) * width;
    if (ring_ == nullptr || size < ring_row_bytes_min) return false;
    const std::uint8_t* const start = start_in_ring(runs, width, *ring_);
    if (start == nullptr || reinterpret_cast<std::uintptr_t>(start) % static_cast<std::uintptr_t>(alignment) != 0)
      return false;
    batch_.in_ring_.bytes += static_cast<std::uint64_t>(size);
    for (const Run& run : runs) {
      if (run.length == 0) continue;
      batch_.in_ring_.buffers.push_back(ring_->given(run.data->buffers[1], run.offset * width, run.length * width));
    }
    batch_.plan_.add_in_ring(ring_->offset_of(start), static_cast<std::uint64_t>(size));
    return true;
  }

  template <class Offset>
  arrow::Status add_offsets(const Runs& runs, std::int64_t named) {
    if (named > std::numeric_limits<Offset>::max()) {
      return arrow::Status::CapacityError("a batch has ", named,
                                          " values or bytes in a column whose offsets have 32 bits: use a smaller "
                                          "batch size, or cast the column to a large_ type");
    }
    const bool wide = sizeof(Offset) == 8;
    add_copy(wide ? SlotBatch::Kind::offsets64 : SlotBatch::Kind::offsets32,
             (length_of(runs) + 1) * static_cast<std::int64_t>(sizeof(Offset)), sizeof(Offset), values(runs));
    return arrow::Status::OK();
  }

  template <class Offset>
  arrow::Status add_text(const Runs& runs) {
    Ranges ranges;
    std::int64_t size = 0;
    for (const Run& run : runs) {
      const Run bytes = named_by_offsets<Offset>(run, nullptr);
      ranges.push_back({bytes_of(*run.data, 2), bytes.offset, bytes.length});
      size += bytes.length;
    }
    ARROW_RETURN_NOT_OK(add_offsets<Offset>(runs, size));
    add_copy(SlotBatch::Kind::bytes, size, 1, std::move(ranges));
    return arrow::Status::OK();
  }

  template <class Offset>
  arrow::Status add_list(const arrow::DataType& type, const Runs& runs) {
    Runs children;
    for (const Run& run : runs) {
      Run child = named_by_offsets<Offset>(run, run.data->child_data[0].get());
      child.offset += child.data->offset;
      children.push_back(child);
    }
    ARROW_RETURN_NOT_OK(add_offsets<Offset>(runs, length_of(children)));
    return add(*type.field(0)->type(), children);
  }

  arrow::Status add_fixed_list(const arrow::FixedSizeListType& type, const Runs& runs) {
    Runs children;
    for (const Run& run : runs) {
      const arrow::ArrayData* child = run.data->child_data[0].get();
      children.push_back({child, child->offset + run.offset * type.list_size(), run.length * type.list_size()});
    }
    return add(*type.value_type(), children);
  }

  arrow::Status add_struct(const arrow::DataType& type, const Runs& runs) {
    for (int i = 0; i < type.num_fields(); ++i) {
      Runs children;
      for (const Run& run : runs) {
        const arrow::ArrayData* child = run.data->child_data[static_cast<std::size_t>(i)].get();
        children.push_back({child, child->offset + run.offset, run.length});
      }
      ARROW_RETURN_NOT_OK(add(*type.field(i)->type(), children));
    }
    return arrow::Status::OK();
  }

  SlotBatch& batch_;
  SharedRing* const ring_;
};

arrow::Result<SlotBatch> SlotBatch::plan(const arrow::Schema& schema,
                                         std::span<const std::shared_ptr<arrow::RecordBatch>> pieces,
                                         SharedRing* ring) {
  const Counts counts = counts_of(schema);
  SlotBatch batch(counts.nodes, counts.buffers);
  for (const auto& piece : pieces) batch.rows_ += piece->num_rows();
  SlotPlanner planner(batch, ring);
  for (int i = 0; i < schema.num_fields(); ++i) {
    Runs runs;
    for (const auto& piece : pieces) {
      const arrow::ArrayData* data = piece->column_data(i).get();
      if (data->length > 0) runs.push_back({data, data->offset, data->length});
    }
    arrow::Status added = planner.add(*schema.field(i)->type(), runs);
    if (!added.ok()) return added.WithMessage("column \"", schema.field(i)->name(), "\": ", added.message());
  }
  return batch;
}

void SlotBatch::write(std::span<std::byte> slot, std::uint32_t layout) const {
  feed::write_tables(slot, rows_, layout, nodes_, plan_.buffers_of(slot.size()));
  for (const Copy& copy : copies_) {
    auto* to = reinterpret_cast<std::uint8_t*>(slot.data() + copy.to.offset);
    switch (copy.kind) {
      case Kind::bytes: write_bytes(copy, to); break;
      case Kind::bits: write_bits(copy, to); break;
      case Kind::offsets32: write_offsets<std::int32_t>(copy, to); break;
      case Kind::offsets64: write_offsets<std::int64_t>(copy, to); break;
    }
  }
}

void SlotBatch::write_bytes(const Copy& copy, std::uint8_t* to) {
  for (const Range& range : copy.ranges) {
    const auto size = static_cast<std::size_t>(range.length * copy.width);
    if (size > 0) std::memcpy(to, range.from + range.offset * copy.width, size);
    to += size;
  }
}

void SlotBatch::write_bits(const Copy& copy, std::uint8_t* to) {
  if (copy.to.size > 0) to[copy.to.size - 1] = 0;
  std::int64_t at = 0;
  for (const Range& range : copy.ranges) {
    if (range.from == nullptr) {
      arrow::bit_util::SetBitsTo(to, at, range.length, true);
    } else {
      arrow::internal::CopyBitmap(range.from, range.offset, range.length, to, at);
    }
    at += range.length;
  }
}

template <class Offset>
void SlotBatch::write_offsets(const Copy& copy, std::uint8_t* to) {
  auto* offsets = reinterpret_cast<Offset*>(to);
  Offset end = 0;
  *offsets++ = end;
  for (const Range& range : copy.ranges) {
    const auto* from = reinterpret_cast<const Offset*>(range.from) + range.offset;
    const Offset shift = end - from[0];
    for (std::int64_t i = 1; i <= range.length; ++i) *offsets++ = from[i] + shift;
    end = from[range.length] + shift;
  }
}

namespace {

/// Takes nodes and buffers of a slot one after another.
class SlotReader {
 public:
  SlotReader(const std::shared_ptr<arrow::Buffer>& slot, const feed::SlotView& view) : slot_(slot), view_(view) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> next(const std::shared_ptr<arrow::DataType>& type) {
    const arrow::DataType& storage = storage_of(*type);
    const std::size_t buffers = storage.layout().buffers.size();
    if (node_ >= view_.nodes.size() || buffer_ + buffers > view_.buffers.size()) {
      return arrow::Status::Invalid("a batch in shared memory has fewer buffers than its schema");
    }
    const feed::SlotNode& node = view_.nodes[node_++];
    auto data = arrow::ArrayData::Make(type, node.length, node.null_count);
    for (std::size_t i = 0; i < buffers; ++i) data->buffers.push_back(part(view_.buffers[buffer_++]));
    for (const auto& field : storage.fields()) {
      ARROW_ASSIGN_OR_RAISE(auto child, next(field->type()));
      data->child_data.push_back(std::move(child));
    }
    return data;
  }

 private:
  std::shared_ptr<arrow::Buffer> part(const feed::SlotBuffer& buffer) const {
    if (buffer.offset == 0) return nullptr;
    return arrow::SliceBuffer(slot_, static_cast<std::int64_t>(buffer.offset), static_cast<std::int64_t>(buffer.size));
  }

  const std::shared_ptr<arrow::Buffer>& slot_;
  const feed::SlotView& view_;
  std::size_t node_ = 0;
  std::size_t buffer_ = 0;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> read_slot(const std::shared_ptr<arrow::Schema>& schema,
                                                             const std::shared_ptr<arrow::Buffer>& slot) {
  const auto view = feed::read_tables(std::as_bytes(std::span(slot->data(), static_cast<std::size_t>(slot->size()))));
  if (!view) return arrow::Status::Invalid(view.error().message);
  SlotReader reader(slot, *view);
  std::vector<std::shared_ptr<arrow::ArrayData>> columns;
  for (const auto& field : schema->fields()) {
    ARROW_ASSIGN_OR_RAISE(auto column, reader.next(field->type()));
    if (column->length != view->header.rows) {
      return arrow::Status::Invalid("a batch in shared memory has columns of different lengths");
    }
    columns.push_back(std::move(column));
  }
  auto batch = arrow::RecordBatch::Make(schema, view->header.rows, std::move(columns));
  ARROW_RETURN_NOT_OK(batch->Validate());
  return batch;
}

}  // namespace headway::flow
