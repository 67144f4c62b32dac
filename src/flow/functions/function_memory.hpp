#pragma once

#include "feed/feed_messages.hpp"
#include "flow/budget.hpp"
#include "flow/functions/function_messages.hpp"
#include "wire/fd.hpp"

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Memory that is shared with a function worker.
namespace headway::flow {

/// One mapping, which ends with its last user. The budget (null: none) counts it until then, even
/// beyond what is free: the worker needs it in any case.
class SharedMemory {
 public:
  static arrow::Result<std::shared_ptr<SharedMemory>> make(std::int64_t size, wire::Fd& fd, Budget* budget);
  /// Errors: what is behind `fd` is shorter than `size`.
  static arrow::Result<std::shared_ptr<SharedMemory>> map(const wire::Fd& fd, std::int64_t size, Budget* budget);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }
  std::int64_t size() const { return size_; }

  /// While the budget is exceeded, gives up what the memory holds; the next one who writes to it,
  /// or reads what another process has written, says so by `count_in`. Nobody else uses it then.
  void trim();
  void count_in();

 private:
  SharedMemory(std::byte* data, std::int64_t size, Budget* budget) : data_(data), size_(size), budget_(budget) {
    count_in();
  }
  std::byte* data_;
  std::int64_t size_;
  Budget* budget_;
  Credit credit_;
};

/// Whether functions of numpy can read it in place: numbers without nulls, and tensors of them.
bool is_plain(const arrow::Schema& schema);
bool has_nulls(const arrow::RecordBatch& batch);

/// A unit, written to memory that a worker reads. It is made larger as needed; the new one's
/// descriptor is for the worker.
class InputMemory {
 public:
  InputMemory(std::shared_ptr<arrow::Schema> schema, bool plain, Budget* budget);

  /// Writes `unit`, and fills the order's fields of it. Errors: a type that cannot be shared.
  arrow::Status write(const std::shared_ptr<arrow::RecordBatch>& unit, UnitOrder& order, std::vector<wire::Fd>& fds);
  /// The worker keeps views of what is there.
  void let_go() { memory_.reset(); }
  /// The worker needs the unit no more.
  void trim() {
    if (memory_) memory_->trim();
  }
  std::int64_t size() const { return memory_ ? memory_->size() : 0; }

 private:
  arrow::Status reserve(std::int64_t size, std::vector<wire::Fd>& fds);
  std::shared_ptr<arrow::Schema> schema_;
  bool plain_;
  Budget* budget_;
  std::shared_ptr<SharedMemory> memory_;
};

/// The bytes of `batch` as a stream of Arrow's IPC, and those bytes written to memory of at least
/// that size.
arrow::Result<std::int64_t> ipc_size(const arrow::RecordBatch& batch);
arrow::Status write_ipc(const arrow::RecordBatch& batch, std::int64_t size, const SharedMemory& memory);

/// The slots that a worker writes its outputs to. A slot is the worker's again when the last batch
/// in it is let go.
class OutputMemory {
 public:
  explicit OutputMemory(Budget* budget) : budget_(budget) {}
  /// The batches of a message, without a copy. Errors: a message that does not fit its memory.
  arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> read(const FunctionOutput& output,
                                                                       const std::vector<wire::Fd>& fds);
  /// Slots that were let go since the last call.
  std::vector<std::int64_t> freed();
  void forget(const std::vector<std::int64_t>& gone);
  std::int64_t size() const;

 private:
  class Lease;
  struct Freed {
    std::mutex mutex;
    std::vector<std::int64_t> slots;
  };
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> read_piece(const OutputPiece& piece,
                                                                const std::shared_ptr<arrow::Buffer>& bytes) const;

  Budget* budget_;
  std::map<std::int64_t, std::shared_ptr<SharedMemory>> slots_;
  std::map<std::uint32_t, std::shared_ptr<arrow::Schema>> layouts_;
  std::shared_ptr<Freed> freed_ = std::make_shared<Freed>();
};

}  // namespace headway::flow
