#pragma once

#include "feed/feed_messages.hpp"
#include "feed/slot.hpp"
#include "flow/shared_ring.hpp"

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// Arrow's record batches to slots and back.
namespace headway::flow {

/// What the columns of `schema` are, for a client.
feed::Layout layout_of(const arrow::Schema& schema, std::uint32_t id);

/// The type that a column of `type` has in slots: dictionaries and run-ends are decoded, views
/// become offsets. Same pointer when nothing changes.
std::shared_ptr<arrow::DataType> slot_type(const std::shared_ptr<arrow::DataType>& type);
std::shared_ptr<arrow::Schema> slot_schema(const std::shared_ptr<arrow::Schema>& schema);

/// A batch that is to be written to a slot: rows of one or more record batches, in order. They are
/// concatenated as they are copied. Their schema is one that `slot_schema` returns. Large buffers
/// whose bytes lie side by side in a ring are not copied.
class SlotBatch {
 public:
  /// What of the batch lies in a ring.
  struct InRing {
    std::uint64_t bytes = 0;
    /// To be held while a client has the batch.
    std::vector<std::shared_ptr<arrow::Buffer>> buffers;
  };

  /// Errors: a type that slots do not have; more than 2 GiB of text in a column with 32-bit
  /// offsets. `ring` may be null.
  static arrow::Result<SlotBatch> plan(const arrow::Schema& schema,
                                       std::span<const std::shared_ptr<arrow::RecordBatch>> pieces,
                                       SharedRing* ring = nullptr);

  std::int64_t rows() const { return rows_; }
  /// Bytes of the slot that it needs.
  std::uint64_t size() const { return plan_.size(); }
  const InRing& in_ring() const { return in_ring_; }
  /// `slot` has at least `size()` bytes; its start is aligned to a page.
  void write(std::span<std::byte> slot, std::uint32_t layout) const;

 private:
  friend class SlotPlanner;

  /// Some values of one array.
  struct Range {
    const std::uint8_t* from = nullptr;
    std::int64_t offset = 0;
    std::int64_t length = 0;
  };
  enum class Kind { bytes, bits, offsets32, offsets64 };
  /// One buffer of the slot, and where its values come from.
  struct Copy {
    Kind kind = Kind::bytes;
    std::int64_t width = 1;  ///< Of a value of Kind::bytes.
    feed::SlotBuffer to;
    std::vector<Range> ranges;
  };

  SlotBatch(std::size_t nodes, std::size_t buffers) : plan_(nodes, buffers) {}

  static void write_bytes(const Copy& copy, std::uint8_t* to);
  static void write_bits(const Copy& copy, std::uint8_t* to);
  template <class Offset>
  static void write_offsets(const Copy& copy, std::uint8_t* to);

  std::int64_t rows_ = 0;
  feed::SlotPlan plan_;
  InRing in_ring_;
  std::vector<feed::SlotNode> nodes_;
  std::vector<Copy> copies_;
};

/// The batch in a slot, without a copy: its buffers are parts of `slot`. Errors: a slot that does
/// not fit `schema`.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> read_slot(const std::shared_ptr<arrow::Schema>& schema,
                                                             const std::shared_ptr<arrow::Buffer>& slot);

}  // namespace headway::flow
