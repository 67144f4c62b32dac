#include "flow/functions/function_memory.hpp"

#include "flow/slot_batch.hpp"

#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::int64_t page = 4096;
/// Less is not worth the faults with which its pages come again.
constexpr std::int64_t trimmed_min = 1 << 20;

arrow::Status failed(const std::string& what) {
  return arrow::Status::IOError("memory that is shared with a function: ", what, ": ", wire::reason_of(errno));
}

bool is_number(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) || arrow::is_floating(type.id()) || type.id() == arrow::Type::BOOL;
}

/// Of a tensor. Lists of one length are none: functions of rows see lists, and outputs stay lists.
const arrow::FixedSizeListType* tensor_storage(const arrow::DataType& type) {
  if (type.id() != arrow::Type::EXTENSION) return nullptr;
  const auto* tensor = dynamic_cast<const arrow::extension::FixedShapeTensorType*>(&type);
  if (tensor == nullptr || !std::is_sorted(tensor->permutation().begin(), tensor->permutation().end())) return nullptr;
  const auto* list = static_cast<const arrow::FixedSizeListType*>(tensor->storage_type().get());
  return list->list_size() > 0 && is_number(*list->value_type()) ? list : nullptr;
}

arrow::Result<std::shared_ptr<arrow::DataType>> type_of(const feed::LayoutColumn& column) {
  static const std::map<std::string, std::shared_ptr<arrow::DataType>> types = [] {
    std::map<std::string, std::shared_ptr<arrow::DataType>> named;
    for (const auto& type :
         {arrow::int8(), arrow::int16(), arrow::int32(), arrow::int64(), arrow::uint8(), arrow::uint16(),
          arrow::uint32(), arrow::uint64(), arrow::float16(), arrow::float32(), arrow::float64(), arrow::boolean()}) {
      named[type->ToString()] = type;
    }
    return named;
  }();
  const auto found = types.find(column.type);
  if (found == types.end()) return arrow::Status::Invalid("a function worker named an unknown type: ", column.type);
  if (column.shape.empty()) return found->second;
  const auto size = std::accumulate(column.shape.begin(), column.shape.end(), std::int64_t{1}, std::multiplies<>());
  if (size > std::numeric_limits<std::int32_t>::max()) {
    return arrow::Status::Invalid("column \"", column.name, "\": a tensor of ", size,
                                  " elements in a row is too large");
  }
  return arrow::extension::fixed_shape_tensor(found->second, column.shape);
}

arrow::ipc::IpcWriteOptions ipc_options() {
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  options.alignment = 64;
  options.use_threads = false;
  return options;
}

}  // namespace

arrow::Result<std::shared_ptr<SharedMemory>> SharedMemory::make(std::int64_t size, wire::Fd& fd, Budget* budget) {
  fd = wire::Fd(memfd_create("headway-input", MFD_CLOEXEC));
  if (!fd.is_open() || ftruncate(fd.get(), size) != 0) return failed("cannot be made");
  return map(fd, size, budget);
}

arrow::Result<std::shared_ptr<SharedMemory>> SharedMemory::map(const wire::Fd& fd, std::int64_t size, Budget* budget) {
  struct stat found{};
  if (fstat(fd.get(), &found) != 0) return failed("cannot be looked at");
  if (found.st_size < size || size <= 0)
    return arrow::Status::Invalid("a function worker's memory is shorter than it says");
  void* data = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return failed("cannot be mapped");
  return std::shared_ptr<SharedMemory>(new SharedMemory(static_cast<std::byte*>(data), size, budget));
}

void SharedMemory::count_in() {
  if (budget_ != nullptr && credit_.bytes() == 0) credit_ = budget_->take(size_);
}

void SharedMemory::trim() {
  if (size_ < trimmed_min || !is_exceeded(budget_)) return;
  if (madvise(data_, static_cast<std::size_t>(size_), MADV_REMOVE) == 0) credit_.give_back();
}

SharedMemory::~SharedMemory() { munmap(data_, static_cast<std::size_t>(size_)); }

bool is_plain(const arrow::Schema& schema) {
  return schema.num_fields() > 0 && std::ranges::all_of(schema.fields(), [](const auto& field) {
           return is_number(*field->type()) || tensor_storage(*field->type()) != nullptr;
         });
}

bool has_nulls(const arrow::RecordBatch& batch) {
  return std::ranges::any_of(batch.columns(), [](const auto& column) {
    if (column->null_count() > 0) return true;
    const auto& children = column->data()->child_data;
    return std::ranges::any_of(children, [](const auto& child) { return child->GetNullCount() > 0; });
  });
}

arrow::Result<std::int64_t> ipc_size(const arrow::RecordBatch& batch) {
  arrow::io::MockOutputStream counted;
  ARROW_ASSIGN_OR_RAISE(auto counter, arrow::ipc::MakeStreamWriter(&counted, batch.schema(), ipc_options()));
  ARROW_RETURN_NOT_OK(counter->WriteRecordBatch(batch));
  ARROW_RETURN_NOT_OK(counter->Close());
  return counted.GetExtentBytesWritten();
}

arrow::Status write_ipc(const arrow::RecordBatch& batch, std::int64_t size, const SharedMemory& memory) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(memory.bytes().data());
  arrow::io::FixedSizeBufferWriter out(std::make_shared<arrow::MutableBuffer>(bytes, size));
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeStreamWriter(&out, batch.schema(), ipc_options()));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(batch));
  return writer->Close();
}

InputMemory::InputMemory(std::shared_ptr<arrow::Schema> schema, bool plain, Budget* budget)
    : schema_(std::move(schema)), plain_(plain), budget_(budget) {}

arrow::Status InputMemory::reserve(std::int64_t size, std::vector<wire::Fd>& fds) {
  if (memory_ && memory_->size() >= size) {
    memory_->count_in();
    return arrow::Status::OK();
  }
  wire::Fd fd;
  const std::int64_t rounded = (size + size / 8 + page - 1) / page * page;
  ARROW_ASSIGN_OR_RAISE(memory_, SharedMemory::make(rounded, fd, budget_));
  fds.push_back(std::move(fd));
  return arrow::Status::OK();
}

arrow::Status InputMemory::write(const std::shared_ptr<arrow::RecordBatch>& unit, UnitOrder& order,
                                 std::vector<wire::Fd>& fds) {
  order.rows = unit->num_rows();
  if (plain_ && !has_nulls(*unit)) {
    order.form = "slot";
    ARROW_ASSIGN_OR_RAISE(const SlotBatch batch, SlotBatch::plan(*schema_, std::span(&unit, 1)));
    order.bytes = static_cast<std::int64_t>(batch.size());
    ARROW_RETURN_NOT_OK(reserve(order.bytes, fds));
    batch.write(memory_->bytes(), 0);
  } else {
    order.form = "ipc";
    ARROW_ASSIGN_OR_RAISE(order.bytes, ipc_size(*unit));
    ARROW_RETURN_NOT_OK(reserve(order.bytes, fds));
    ARROW_RETURN_NOT_OK(write_ipc(*unit, order.bytes, *memory_));
  }
  order.memory = memory_->size();
  return arrow::Status::OK();
}

/// Views of a slot hold it; the last one frees the slot.
class OutputMemory::Lease : public arrow::Buffer {
 public:
  Lease(std::shared_ptr<SharedMemory> memory, std::int64_t slot, std::shared_ptr<Freed> freed)
      : Buffer(reinterpret_cast<const std::uint8_t*>(memory->bytes().data()), memory->size()),
        memory_(std::move(memory)),
        slot_(slot),
        freed_(std::move(freed)) {}
  ~Lease() override {
    memory_->trim();
    const std::lock_guard lock(freed_->mutex);
    freed_->slots.push_back(slot_);
  }

 private:
  std::shared_ptr<SharedMemory> memory_;
  std::int64_t slot_;
  std::shared_ptr<Freed> freed_;
};

arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> OutputMemory::read(const FunctionOutput& output,
                                                                                   const std::vector<wire::Fd>& fds) {
  forget(output.gone);
  if (!fds.empty()) {
    ARROW_ASSIGN_OR_RAISE(slots_[output.slot], SharedMemory::map(fds.front(), output.memory, budget_));
  }
  const auto slot = slots_.find(output.slot);
  if (slot == slots_.end()) return arrow::Status::Invalid("a function worker named a slot that it has not sent");
  slot->second->count_in();
  for (const OutputLayout& layout : output.layouts) {
    arrow::FieldVector fields;
    for (const feed::LayoutColumn& column : layout.columns) {
      ARROW_ASSIGN_OR_RAISE(auto type, type_of(column));
      fields.push_back(arrow::field(column.name, std::move(type)));
    }
    layouts_[layout.id] = arrow::schema(std::move(fields));
  }
  const auto lease = std::make_shared<Lease>(slot->second, output.slot, freed_);
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (const OutputPiece& piece : output.pieces) {
    if (piece.offset < 0 || piece.size < 0 || piece.offset > lease->size() - piece.size) {
      return arrow::Status::Invalid("a function worker named an output beyond its slot");
    }
    ARROW_ASSIGN_OR_RAISE(auto batch, read_piece(piece, arrow::SliceBuffer(lease, piece.offset, piece.size)));
    batches.push_back(std::move(batch));
  }
  return batches;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> OutputMemory::read_piece(
    const OutputPiece& piece, const std::shared_ptr<arrow::Buffer>& bytes) const {
  if (piece.form == "slot") {
    const auto layout = layouts_.find(piece.layout);
    if (layout == layouts_.end())
      return arrow::Status::Invalid("a function worker named a layout that it has not sent");
    return read_slot(layout->second, bytes);
  }
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(
                                         std::make_shared<arrow::io::BufferReader>(bytes), options));
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
  if (!batch) return arrow::Status::Invalid("a function worker sent an output without rows");
  return batch;
}

std::vector<std::int64_t> OutputMemory::freed() {
  const std::lock_guard lock(freed_->mutex);
  return std::exchange(freed_->slots, {});
}

void OutputMemory::forget(const std::vector<std::int64_t>& gone) {
  for (const std::int64_t slot : gone) slots_.erase(slot);
}

std::int64_t OutputMemory::size() const {
  std::int64_t size = 0;
  for (const auto& [number, memory] : slots_) size += memory->size();
  return size;
}

}  // namespace headway::flow
