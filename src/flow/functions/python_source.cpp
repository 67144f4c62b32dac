#include "flow/functions/python_source.hpp"

#include "core/signals_blocked.hpp"
#include "node/resource_ledger.hpp"

#include <arrow/util/iterator.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::size_t waiting_max = 2;

/// One unit while it is made: a thread calls the function, and waits while nobody reads.
class UnitReader : public arrow::RecordBatchReader {
 public:
  UnitReader(std::shared_ptr<FunctionPool> pool, FunctionWork work) : pool_(std::move(pool)), work_(std::move(work)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { make(); });
  }

  ~UnitReader() override {
    {
      const std::lock_guard lock(mutex_);
      unwanted_ = true;
      changed_.notify_all();
    }
    pool_->stop_caller(this);
    thread_.join();
    pool_->forget_caller(this);
  }

  /// Null when the unit has no rows.
  arrow::Result<std::shared_ptr<arrow::Schema>> wait_for_schema() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || done_; });
    if (batches_.empty()) {
      ARROW_RETURN_NOT_OK(status_);
      return nullptr;
    }
    schema_ = batches_.front()->schema();
    return schema_;
  }

  void set_schema(std::shared_ptr<arrow::Schema> schema) { schema_ = std::move(schema); }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || done_; });
    batch->reset();
    if (batches_.empty()) return status_;
    *batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return arrow::Status::OK();
  }

 private:
  void make() {
    arrow::Status made = pool_->process(
        work_, nullptr,
        [this](std::shared_ptr<arrow::RecordBatch> batch) {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return batches_.size() < waiting_max || unwanted_; });
          if (unwanted_) return arrow::Status::Cancelled("nobody reads the unit");
          batches_.push_back(std::move(batch));
          changed_.notify_all();
          return arrow::Status::OK();
        },
        this);
    const std::lock_guard lock(mutex_);
    status_ = std::move(made);
    done_ = true;
    changed_.notify_all();
  }

  const std::shared_ptr<FunctionPool> pool_;
  const FunctionWork work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<arrow::RecordBatch>> batches_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::Status status_;
  bool done_ = false;
  bool unwanted_ = false;
  std::thread thread_;
};

class PythonSource : public Source {
 public:
  PythonSource(std::shared_ptr<FunctionPool> pool, const data::PythonSourceNode& node) : pool_(std::move(pool)) {
    std::int64_t row = 0;
    for (std::int64_t number = 0; number < node.units; ++number) {
      Unit unit;
      unit.where = node.units == 1 ? "the source" : "unit " + std::to_string(number) + " of the source";
      unit.begin = number;
      unit.end = number + 1;
      if (node.rows) {
        const std::int64_t count = (*node.rows)[static_cast<std::size_t>(number)];
        unit.rows = count;
        unit.where = "the source, rows " + std::to_string(row) + " to " + std::to_string(row + count - 1);
        row += count;
      }
      units_.push_back(std::move(unit));
    }
  }

  ~PythonSource() override { pool_->forget_caller(this); }

  /// Makes units, until one has rows.
  arrow::Status begin() {
    for (const Unit& unit : units_) {
      auto reader = reader_of(unit);
      ARROW_ASSIGN_OR_RAISE(schema_, reader->wait_for_schema());
      if (!schema_) continue;
      begun_ = std::move(reader);
      begun_unit_ = unit.begin;
      return arrow::Status::OK();
    }
    schema_ = arrow::schema({});
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  const std::vector<Unit>& units() const override { return units_; }
  std::vector<std::string> files() const override { return {}; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const Unit& unit, const std::vector<int>* columns,
                                                                arrow::MemoryPool*) const override {
    std::shared_ptr<arrow::RecordBatchReader> reader = take_begun(unit);
    if (!reader) {
      auto made = reader_of(unit);
      made->set_schema(schema_);
      reader = std::move(made);
    }
    if (columns == nullptr) return reader;
    arrow::FieldVector fields;
    for (const int column : *columns) fields.push_back(schema_->field(column));
    auto next = [reader, chosen = *columns]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      return batch ? batch->SelectColumns(chosen) : batch;
    };
    return arrow::RecordBatchReader::MakeFromIterator(arrow::MakeFunctionIterator(std::move(next)),
                                                      arrow::schema(std::move(fields)));
  }

 private:
  std::unique_ptr<UnitReader> reader_of(const Unit& unit) const {
    FunctionWork work;
    work.unit = unit.begin;
    work.where = unit.where;
    work.owner = this;
    return std::make_unique<UnitReader>(pool_, std::move(work));
  }

  std::shared_ptr<arrow::RecordBatchReader> take_begun(const Unit& unit) const {
    const std::lock_guard lock(mutex_);
    return unit.begin == begun_unit_ ? std::move(begun_) : nullptr;
  }

  const std::shared_ptr<FunctionPool> pool_;
  std::vector<Unit> units_;
  std::shared_ptr<arrow::Schema> schema_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<UnitReader> begun_;
  std::int64_t begun_unit_ = -1;
};

}  // namespace

arrow::Result<std::shared_ptr<const Source>> open_python_source(std::shared_ptr<FunctionPools> pools,
                                                                const data::PythonSourceNode& node,
                                                                const std::vector<std::string>& blobs) {
  FunctionSpec spec;
  spec.name = "source";
  spec.calls.resize(1);
  spec.calls.front().kind = "source";
  spec.calls.front().pickled = blobs[static_cast<std::size_t>(node.function)];
  // One more than cores: the worker of the first unit waits until that unit is read.
  spec.workers_max = node::usable_cpus() + 1;
  ARROW_ASSIGN_OR_RAISE(auto pool, pools->pool(spec));
  auto source = std::make_shared<PythonSource>(std::move(pool), node);
  ARROW_RETURN_NOT_OK(source->begin());
  return source;
}

}  // namespace headway::flow
