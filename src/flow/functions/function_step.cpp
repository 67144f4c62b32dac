#include "flow/functions/function_step.hpp"

#include "flow/batch_bytes.hpp"
#include "flow/function_batches.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace headway::flow {
namespace {

const char* kind_of(data::FunctionKind kind) {
  switch (kind) {
    case data::FunctionKind::map_batches: return "map_batches";
    case data::FunctionKind::map: return "map";
    case data::FunctionKind::flat_map: return "flat_map";
    case data::FunctionKind::filter: return "filter";
  }
  return "";
}

std::string format_of(const std::optional<data::BatchFormat>& format) {
  if (!format) return "numpy";
  switch (*format) {
    case data::BatchFormat::numpy: return "numpy";
    case data::BatchFormat::pandas: return "pandas";
    case data::BatchFormat::pyarrow: return "pyarrow";
  }
  return "";
}

void add_call(FunctionSpec& spec, const data::FunctionStep& step, const std::vector<std::string>& blobs) {
  FunctionCall call;
  call.kind = kind_of(step.kind);
  call.pickled = blobs[static_cast<std::size_t>(step.blob)];
  call.batch_size = step.batch_size;
  call.batch_format = format_of(step.batch_format);
  spec.name += (spec.calls.empty() ? "" : ", ") + call.kind + "(" + step.name + ")";
  spec.calls.push_back(std::move(call));
}

class FunctionStep : public UnitStep {
 public:
  /// @param keeps_rows The user has promised that as many rows are returned as given.
  FunctionStep(std::shared_ptr<FunctionPools> pools, FunctionSpec spec, std::string giver, bool keeps_rows,
               std::int64_t part_rows)
      : pools_(std::move(pools)),
        spec_(std::move(spec)),
        giver_(std::move(giver)),
        keeps_rows_(keeps_rows),
        part_rows_(part_rows) {}

  ~FunctionStep() override {
    if (pool_) pool_->forget_caller(this);
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    if (!input) return input;
    // The workers start while files are opened.
    ARROW_ASSIGN_OR_RAISE(const auto pool, pool_for(input));
    return pool->schema(giver_, this);
  }

  bool needs_whole_unit() const override { return true; }
  std::int64_t part_rows() const override { return part_rows_; }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t first_row, const UnitPlace& place,
                    const ItemSink& sink) const override {
    if (!rows || rows->num_rows() == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto pool, pool_for(rows->schema()));
    const FunctionWork work{.seed = place.seed,
                            .epoch = place.epoch,
                            .unit = place.unit,
                            .where = place.where,
                            .first_row = first_row,
                            .giver = giver_,
                            .decides_schema = place.is_first,
                            .owner = this,
                            .on_wait = place.on_wait,
                            .let_go_input = place.let_go_input,
                            .is_second = place.is_second_attempt,
                            .wait = place.wait};
    const std::int64_t count = rows->num_rows();
    std::int64_t made = 0;
    std::int64_t bytes = 0;
    const ItemSink counted = [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
      made += batch->num_rows();
      const std::int64_t own = batch_bytes(*batch);
      bytes += own;
      pool->has_made(own);
      return sink(batch);
    };
    ARROW_RETURN_NOT_OK(pool->process(work, rows, counted, this));
    pool->has_done_call(bytes);
    if (!keeps_rows_ || made == count) return arrow::Status::OK();
    return arrow::Status::Invalid(spec_.name, place.where.empty() ? "" : ", " + place.where, ": it returned ", made,
                                  " rows for ", count, "; udf_modifying_row_count=False promises as many as it got");
  }

  /// Does not wait: while the pool is opened, its workers are not known.
  int workers() const override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock && pool_ ? pool_->workers() : 0;
  }

  std::optional<StepCalls> calls() const override {
    const FunctionPool* const pool = opened_;  // GPUs may allow it fewer workers than the plan.
    return pool != nullptr ? pool->calls() : StepCalls{step_workers(spec_)};
  }

  void stop() const override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (pool_) pool_->stop_caller(this);
  }

 private:
  arrow::Result<std::shared_ptr<FunctionPool>> pool_for(const std::shared_ptr<arrow::Schema>& input) const {
    const std::lock_guard lock(mutex_);
    if (stopped_) return arrow::Status::Cancelled("the function's callers were stopped");
    if (!pool_) {
      FunctionSpec spec = spec_;
      spec.input = input->RemoveMetadata();
      ARROW_ASSIGN_OR_RAISE(pool_, pools_->pool(spec));
      opened_ = pool_.get();
    }
    return pool_;
  }

  const std::shared_ptr<FunctionPools> pools_;
  const FunctionSpec spec_;
  const std::string giver_;
  const bool keeps_rows_;
  const std::int64_t part_rows_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<FunctionPool> pool_;
  mutable std::atomic<const FunctionPool*> opened_ = nullptr;  ///< The same, without the mutex.
  mutable bool stopped_ = false;
};

}  // namespace

std::shared_ptr<const UnitStep> function_step(std::shared_ptr<FunctionPools> pools, const data::FunctionNode& node,
                                              const std::vector<std::string>& blobs, std::string giver,
                                              feed::OtherNodes other_nodes, int copy) {
  FunctionSpec spec;
  spec.copy = copy;
  if (node.num_gpus == 0) spec.other_nodes = other_nodes;
  spec.num_gpus = node.num_gpus;
  add_call(spec, node, blobs);
  for (const data::FunctionStep& step : node.then) add_call(spec, step, blobs);
  if (node.workers && !node.workers->empty()) {
    spec.workers_min = node.workers->front();
    spec.workers_max = node.workers->back();
  }
  return std::make_shared<const FunctionStep>(std::move(pools), std::move(spec), std::move(giver), keeps_rows(node),
                                              batch_rows_of(node).value_or(0));
}

std::shared_ptr<const UnitStep> function_step(std::shared_ptr<FunctionPools> pools, FunctionSpec spec,
                                              std::string giver) {
  return std::make_shared<const FunctionStep>(std::move(pools), std::move(spec), std::move(giver), false, 0);
}

}  // namespace headway::flow
