#include "flow/functions/whole_operation.hpp"

#include "flow/batch_bytes.hpp"
#include "flow/functions/function_memory.hpp"
#include "flow/functions/function_pool.hpp"
#include "flow/functions/wider_schema.hpp"
#include "node/resource_ledger.hpp"
#include "wire/blocking_channel.hpp"

#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::int64_t piece_bytes_min = 1 << 20;
/// About what a piece has. Several are on their way at a time.
constexpr std::int64_t usual_piece_bytes = 4 << 20;
/// Batches of less go together: a piece costs as much as thousands of rows.
constexpr std::int64_t small_batch_bytes = 256 << 10;

/// Not made beside others when memory is full. What is smaller is: time matters.
bool is_too_much(std::int64_t bytes, Budget* budget) { return bytes >= Budget::large && is_exceeded(budget); }

/// An input, and the memories in which its pieces go to the worker.
class WholeInput {
 public:
  WholeInput(std::shared_ptr<arrow::RecordBatchReader> rows, Budget* budget)
      : rows_(std::move(rows)), budget_(budget) {}

  std::shared_ptr<arrow::Schema> schema() const { return rows_->schema(); }

  /// The next piece; without rows at the end. `free`: slots that the worker has let go of.
  arrow::Result<wire::Frame> next(const std::vector<std::int64_t>& free) {
    free_.insert(free_.end(), free.begin(), free.end());
    // Rows are read before they come into a slot, and have their own memory then.
    for (const std::int64_t slot : free) {
      if (is_too_much(slots_.at(slot)->size(), budget_)) slots_.at(slot)->trim();
    }
    if (!ahead_) ahead_ = made();
    return *std::exchange(ahead_, std::nullopt);
  }

  /// Makes the piece after it, while the worker has the one before. What fails is the next one's.
  void make_ahead() {
    if (!ended_ && !is_too_much(last_bytes_, budget_)) ahead_ = made();
  }

 private:
  arrow::Result<wire::Frame> made() {
    ARROW_ASSIGN_OR_RAISE(const auto batch, next_rows());
    if (!batch) {
      ended_ = true;
      // What was read took memory that the allocator keeps, and the result needs.
      arrow::default_memory_pool()->ReleaseUnused();
      return wire::to_frame(WholePieceEnd{});
    }
    WholePiece piece;
    ARROW_ASSIGN_OR_RAISE(piece.bytes, ipc_size(*batch));
    last_bytes_ = piece.bytes;
    wire::Fd fd;
    ARROW_ASSIGN_OR_RAISE(piece.slot, slot_for(piece.bytes, fd));
    const SharedMemory& memory = *slots_.at(piece.slot);
    piece.memory = memory.size();
    ARROW_RETURN_NOT_OK(write_ipc(*batch, piece.bytes, memory));
    wire::Frame frame = wire::to_frame(piece);
    if (fd.is_open()) frame.fds.push_back(std::move(fd));
    return frame;
  }

  /// A batch, or several small ones as one; null: there are no more.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> next_batch() {
    arrow::RecordBatchVector small;
    std::int64_t bytes = 0;
    while (bytes < small_batch_bytes) {
      std::shared_ptr<arrow::RecordBatch> batch = std::exchange(behind_small_, nullptr);
      if (!batch) ARROW_RETURN_NOT_OK(rows_->ReadNext(&batch));
      if (!batch) break;
      const std::int64_t more = batch_bytes(*batch);
      if (!small.empty() && more >= small_batch_bytes) {
        behind_small_ = std::move(batch);
        break;
      }
      bytes += more;
      small.push_back(std::move(batch));
    }
    if (small.empty()) return nullptr;
    return small.size() == 1 ? small.front() : arrow::ConcatenateRecordBatches(small);
  }

  /// Those of a batch, in as many parts as have about `usual_piece_bytes`; null: there are no more.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> next_rows() {
    while (!rest_ || rest_->num_rows() == 0) {
      ARROW_ASSIGN_OR_RAISE(rest_, next_batch());
      if (!rest_) return nullptr;
      const std::int64_t parts =
          std::max<std::int64_t>(1, (batch_bytes(*rest_) + usual_piece_bytes / 2) / usual_piece_bytes);
      piece_rows_ = (rest_->num_rows() + parts - 1) / parts;
    }
    auto first = rest_->Slice(0, piece_rows_);
    rest_ = rest_->num_rows() > piece_rows_ ? rest_->Slice(piece_rows_) : nullptr;
    return first;
  }

  arrow::Result<std::int64_t> slot_for(std::int64_t bytes, wire::Fd& fd) {
    const auto fitting = std::ranges::find_if(free_, [&](auto slot) { return slots_.at(slot)->size() >= bytes; });
    if (fitting != free_.end()) {
      const std::int64_t slot = *fitting;
      free_.erase(fitting);
      slots_.at(slot)->count_in();
      return slot;
    }
    const std::int64_t size = std::max(piece_bytes_min, (bytes + 4095) / 4096 * 4096);
    // One that is too small is replaced.
    std::int64_t slot = static_cast<std::int64_t>(slots_.size());
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    }
    ARROW_ASSIGN_OR_RAISE(slots_[slot], SharedMemory::make(size, fd, budget_));
    return slot;
  }

  std::shared_ptr<arrow::RecordBatchReader> rows_;
  std::shared_ptr<arrow::RecordBatch> rest_;  ///< What has not gone yet of the last batch.
  std::shared_ptr<arrow::RecordBatch> behind_small_;
  std::int64_t piece_rows_ = 0;
  std::int64_t last_bytes_ = 0;  ///< Of the last piece.
  std::optional<arrow::Result<wire::Frame>> ahead_;
  bool ended_ = false;
  Budget* budget_;
  std::map<std::int64_t, std::shared_ptr<SharedMemory>> slots_;
  std::vector<std::int64_t> free_;
};

/// The result. Its worker asks for the inputs' rows while a result is read.
class WholeReader : public arrow::RecordBatchReader {
 public:
  WholeReader(std::shared_ptr<FunctionHost> host, StartedWorker worker, WholeSpec spec, std::string folder,
              std::vector<std::shared_ptr<arrow::RecordBatchReader>> inputs)
      : host_(std::move(host)),
        worker_(std::move(worker)),
        spec_(std::move(spec)),
        folder_(std::move(folder)),
        outputs_(host_->budget()) {
    for (auto& each : inputs) inputs_.emplace_back(std::move(each), host_->budget());
  }

  ~WholeReader() override {
    shutdown(worker_.link.get(), SHUT_RDWR);
    host_->kill_worker(worker_.id);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  /// Until the schema is known.
  arrow::Status start() {
    WholeSetup setup;
    setup.arguments = spec_.arguments;
    setup.memory_bytes = spec_.memory_bytes;
    setup.folder = folder_;
    setup.threads = node::usable_cpus();
    setup.batch_rows = spec_.batch_rows;
    setup.rows_are_large = spec_.rows_are_large;
    std::string schemas;
    for (const WholeInput& input : inputs_) {
      ARROW_ASSIGN_OR_RAISE(const auto bytes, arrow::ipc::SerializeSchema(*input.schema()));
      setup.schema_bytes.push_back(static_cast<std::uint64_t>(bytes->size()));
      schemas += bytes->ToString();
    }
    ARROW_RETURN_NOT_OK(send(wire::to_frame(setup, std::make_shared<const std::string>(std::move(schemas)))));
    while (!schema_) ARROW_RETURN_NOT_OK(take_message());
    return arrow::Status::OK();
  }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    batch->reset();
    if (results_.empty() && std::exchange(owes_answer_, false)) {
      if (spec_.wait_for_need) spec_.wait_for_need();
      ARROW_RETURN_NOT_OK(go_on());
    }
    while (results_.empty() && !done_) ARROW_RETURN_NOT_OK(take_message());
    if (results_.empty()) return arrow::Status::OK();
    *batch = std::move(results_.front());
    results_.pop_front();
    return arrow::Status::OK();
  }

 private:
  arrow::Status send(const wire::Frame& frame) {
    return wire::send_frame(worker_.link.get(), frame) ? arrow::Status::OK() : died();
  }

  arrow::Status died() { return arrow::Status::IOError(spec_.name, ": its process ", host_->end_of(worker_.id)); }

  arrow::Status take_message() {
    auto frame = wire::receive_frame(worker_.link.get(), wire::messages_of<FromWholeWorker>);
    if (!frame || !*frame) return died();
    const auto message = wire::from_frame<FromWholeWorker>(**frame);
    if (!message) return arrow::Status::Invalid(spec_.name, ": ", message.error().message);
    return std::visit([&](const auto& each) { return on(each, **frame); }, *message);
  }

  arrow::Status on(const WholeSchema&, const wire::Frame& frame) {
    if (!frame.blob) return arrow::Status::Invalid(spec_.name, ": a schema without bytes");
    arrow::io::BufferReader bytes(arrow::Buffer::FromString(*frame.blob));
    arrow::ipc::DictionaryMemo memo;
    ARROW_ASSIGN_OR_RAISE(schema_, arrow::ipc::ReadSchema(&bytes, &memo));
    return arrow::Status::OK();
  }

  arrow::Status on(const WholePull& pull, const wire::Frame&) {
    if (pull.input >= inputs_.size()) return arrow::Status::Invalid(spec_.name, ": there is no such input");
    WholeInput& input = inputs_[pull.input];
    ARROW_ASSIGN_OR_RAISE(const wire::Frame piece, input.next(pull.free));
    ARROW_RETURN_NOT_OK(send(piece));
    input.make_ahead();
    return arrow::Status::OK();
  }

  arrow::Status on(const FunctionOutput& output, const wire::Frame& frame) {
    ARROW_ASSIGN_OR_RAISE(auto batches, outputs_.read(output, frame.fds));
    std::int64_t bytes = 0;
    for (auto& batch : batches) {
      bytes += batch_bytes(*batch);
      results_.push_back(std::move(batch));
    }
    // Beside what the next stage works on the worker makes more.
    owes_answer_ = is_too_much(bytes, host_->budget());
    return owes_answer_ ? arrow::Status::OK() : go_on();
  }

  arrow::Status go_on() { return send(wire::to_frame(FunctionContinue{outputs_.freed(), false})); }

  arrow::Status on(const WholeSpilled& spilled, const wire::Frame&) {
    if (spec_.spilled) spec_.spilled(spilled.bytes, folder_);
    return arrow::Status::OK();
  }

  arrow::Status on(const WholeRowsAreLarge& rows, const wire::Frame&) {
    if (spec_.found_large) spec_.found_large();
    return schema_widened(
        arrow::Status::OutOfMemory(spec_.name, ": rows of ", rows.bytes, " bytes are too large for DuckDB's memory"));
  }

  arrow::Status on(const FunctionDone&, const wire::Frame&) {
    done_ = true;
    return arrow::Status::OK();
  }

  arrow::Status on(const FunctionFailed& failed, const wire::Frame& frame) {
    auto failure = std::make_shared<UserFailure>();
    failure->type = failed.type;
    failure->message = failed.message.starts_with(spec_.name) ? failed.message : spec_.name + ": " + failed.message;
    failure->traceback = failed.traceback;
    if (frame.blob) failure->pickled = *frame.blob;
    std::string words = failure->message;
    return {arrow::StatusCode::ExecutionError, std::move(words), std::move(failure)};
  }

  const std::shared_ptr<FunctionHost> host_;
  const StartedWorker worker_;
  const WholeSpec spec_;
  const std::string folder_;
  std::vector<WholeInput> inputs_;
  OutputMemory outputs_;
  std::shared_ptr<arrow::Schema> schema_;
  std::deque<std::shared_ptr<arrow::RecordBatch>> results_;
  bool owes_answer_ = false;  ///< To the worker, for its last outputs.
  bool done_ = false;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> run_whole(
    std::shared_ptr<FunctionHost> host, WholeSpec spec, std::vector<std::shared_ptr<arrow::RecordBatchReader>> inputs) {
  static std::atomic<int> last = 0;
  std::string folder =
      (std::filesystem::path(spec.scratch) / ("whole-" + std::to_string(getpid()) + "-" + std::to_string(++last)))
          .string();
  ARROW_ASSIGN_OR_RAISE(StartedWorker worker, host->start_worker(spec.name, folder));
  if (spec.started) spec.started(worker.id);
  auto reader = std::make_shared<WholeReader>(std::move(host), std::move(worker), std::move(spec), std::move(folder),
                                              std::move(inputs));
  ARROW_RETURN_NOT_OK(reader->start());
  return reader;
}

}  // namespace headway::flow
