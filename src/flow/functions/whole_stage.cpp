#include "flow/functions/whole_stage.hpp"

#include "core/json.hpp"
#include "core/json_text.hpp"
#include "flow/functions/whole_operation.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <mutex>
#include <utility>

namespace headway::flow {
namespace {

/// The rows of a stage. `schema` may need the first of them.
class StageReader : public arrow::RecordBatchReader {
 public:
  explicit StageReader(Stage& stage) : stage_(stage) {}

  arrow::Status start() {
    schema_ = stage_.schema();
    if (schema_) return arrow::Status::OK();
    std::shared_ptr<arrow::RecordBatch> first;
    ARROW_RETURN_NOT_OK(ReadNext(&first));
    first_ = first;
    schema_ = first ? first->schema() : stage_.schema();
    if (!schema_) schema_ = arrow::schema({});
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    if (first_) {
      *batch = std::move(first_);
      return arrow::Status::OK();
    }
    batch->reset();
    while (!ended_) {
      credit_.reset();
      ARROW_ASSIGN_OR_RAISE(auto chunk, stage_.next());
      if (!chunk) {
        ended_ = true;
      } else if (chunk->rows && chunk->rows->num_rows() > 0) {
        *batch = std::move(chunk->rows);
        credit_ = std::move(chunk->credit);
        break;
      }
    }
    return arrow::Status::OK();
  }

 private:
  Stage& stage_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::RecordBatch> first_;
  std::shared_ptr<Credit> credit_;  ///< Of the rows that were read last.
  bool ended_ = false;
};

class WholeStage : public Stage {
 public:
  WholeStage(std::shared_ptr<FunctionPools> pools, WholeSpec spec, std::vector<std::unique_ptr<Stage>> inputs,
             std::int64_t taken_bytes, std::shared_ptr<arrow::Schema> schema)
      : pools_(std::move(pools)),
        spec_(std::move(spec)),
        inputs_(std::move(inputs)),
        taken_bytes_(taken_bytes),
        schema_(std::move(schema)) {}

  arrow::Result<std::optional<Chunk>> next() override {
    if (!result_ && unit_ > 0) return std::nullopt;
    if (!result_) ARROW_RETURN_NOT_OK(begin());
    std::shared_ptr<arrow::RecordBatch> rows;
    const arrow::Status read = result_->ReadNext(&rows);
    if (stopped_) return arrow::Status::Cancelled("the data set is no longer read");
    ARROW_RETURN_NOT_OK(read);
    if (!rows) {
      ARROW_ASSIGN_OR_RAISE(rows, no_rows());
      result_.reset();
      credit_.give_back();
      if (!rows) return std::nullopt;
    }
    Chunk chunk;
    chunk.rows = std::move(rows);
    chunk.unit = unit_++;
    return chunk;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  void stop() override {
    stopped_ = true;
    for (const auto& input : inputs_) input->stop();
    const std::lock_guard lock(mutex_);
    if (worker_ >= 0) host_->kill_worker(worker_);
  }

 private:
  arrow::Status begin() {
    ARROW_ASSIGN_OR_RAISE(auto host, pools_->host());
    // What is read ahead has the rest of the budget.
    if (Budget* const budget = host->budget()) credit_ = budget->take(taken_bytes_);
    std::vector<std::shared_ptr<arrow::RecordBatchReader>> readers;
    for (const auto& input : inputs_) {
      auto reader = std::make_shared<StageReader>(*input);
      ARROW_RETURN_NOT_OK(reader->start());
      knows_columns_ = knows_columns_ && reader->schema()->num_fields() > 0;
      readers.push_back(std::move(reader));
    }
    spec_.started = [this](std::int64_t worker) {
      const std::lock_guard lock(mutex_);
      worker_ = worker;
    };
    {
      const std::lock_guard lock(mutex_);
      host_ = host;
    }
    ARROW_ASSIGN_OR_RAISE(result_, run_whole(std::move(host), spec_, std::move(readers)));
    return arrow::Status::OK();
  }

  /// A result that has no rows at all, with the columns that its rows would have shown; null: it
  /// had rows, or columns were known, or those of an input are not.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> no_rows() {
    if (unit_ > 0 || schema_ != nullptr || !knows_columns_) return nullptr;
    schema_ = result_->schema();
    return arrow::RecordBatch::MakeEmpty(schema_);
  }

  const std::shared_ptr<FunctionPools> pools_;
  WholeSpec spec_;
  const std::vector<std::unique_ptr<Stage>> inputs_;
  const std::int64_t taken_bytes_;  ///< Of the budget, while it runs.
  std::shared_ptr<arrow::Schema> schema_;
  bool knows_columns_ = true;  ///< Of all inputs.
  std::shared_ptr<arrow::RecordBatchReader> result_;
  Credit credit_;
  std::int64_t unit_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::shared_ptr<FunctionHost> host_;
  std::int64_t worker_ = -1;
};

/// One line as it begins, and one when it is twice as much, from 16 MiB on.
std::function<void(std::int64_t, const std::string&)> announcement(const std::string& name) {
  auto next = std::make_shared<std::int64_t>(1);
  return [name, next](std::int64_t bytes, const std::string& folder) {
    if (bytes < *next) return;
    *next = std::max(2 * bytes, std::int64_t{16} << 20);
    std::fprintf(stderr, "%s: memory is full, and %.1f MiB are in %s by now; they go when it ends\n", name.c_str(),
                 static_cast<double>(bytes) / (1 << 20), folder.c_str());
  };
}

/// As DuckDB gives rows back: without dictionaries, and each column may have nulls.
std::shared_ptr<arrow::Schema> plain_schema(const std::shared_ptr<arrow::Schema>& schema) {
  if (schema == nullptr) return nullptr;
  arrow::FieldVector fields;
  for (const auto& field : schema->fields()) {
    const bool is_dictionary = field->type()->id() == arrow::Type::DICTIONARY;
    auto type = is_dictionary ? static_cast<const arrow::DictionaryType&>(*field->type()).value_type() : field->type();
    fields.push_back(arrow::field(field->name(), std::move(type)));
  }
  return arrow::schema(std::move(fields));
}

/// Of an operation that puts rows into an order. Null: it is another one, or keys are missing,
/// which the operation says.
std::shared_ptr<arrow::Schema> schema_of(const data::WholeNode& node, const Stage& input) {
  auto schema = plain_schema(input.schema());
  if (schema == nullptr || node.operation == "random_shuffle") return schema;
  const Json* const keys = node.options.if_contains("keys");
  if (node.operation != "sort" || keys == nullptr || !keys->is_array()) return nullptr;
  const bool has_all = std::ranges::all_of(keys->get_array(), [&](const Json& key) {
    return key.is_string() && schema->GetFieldIndex(std::string(key.get_string())) >= 0;
  });
  return has_all ? schema : nullptr;
}

}  // namespace

std::unique_ptr<Stage> whole_stage(std::shared_ptr<FunctionPools> pools, const data::WholeNode& node,
                                   std::vector<std::unique_ptr<Stage>> inputs, const WholeMemory& memory,
                                   const std::string& scratch, SeenAt seen, std::shared_ptr<Demand> demand) {
  WholeSpec spec;
  spec.name = node.operation == "group_map" ? "groupby" : node.operation;
  JsonObject arguments;
  arguments["operation"] = node.operation;
  arguments["options"] = node.options;
  spec.arguments = json_text(arguments);
  spec.memory_bytes = memory.duckdb;
  spec.scratch = scratch;
  spec.spilled = announcement(spec.name);
  if (demand) spec.wait_for_need = [demand = std::move(demand)] { demand->wait_for_need(); };
  spec.rows_are_large = seen.rows->are_large(seen.giver);
  spec.found_large = [seen = std::move(seen)] { seen.rows->set_large(seen.giver); };
  auto schema = schema_of(node, *inputs.front());
  return std::make_unique<WholeStage>(std::move(pools), std::move(spec), std::move(inputs),
                                      memory.duckdb + memory.beside, std::move(schema));
}

FunctionSpec group_function(const data::WholeNode& node, const std::vector<std::string>& blobs) {
  FunctionSpec spec;
  spec.name = "map_groups";
  spec.calls.resize(1);
  FunctionCall& call = spec.calls.front();
  call.kind = "map_groups";
  if (node.blob) call.pickled = blobs[static_cast<std::size_t>(*node.blob)];
  const auto text_of = [](const Json& value) { return std::string(value.as_string()); };
  if (const auto* format = node.options.if_contains("batch_format"); format && format->is_string()) {
    call.batch_format = text_of(*format);
  }
  const auto* workers = node.options.if_contains("workers");
  if (workers != nullptr && workers->is_array() && !workers->get_array().empty()) {
    const auto count = [](const Json& number) { return static_cast<int>(number.is_int64() ? number.get_int64() : 0); };
    spec.workers_min = std::max(1, count(workers->get_array().front()));
    spec.workers_max = count(workers->get_array().back());
  }
  if (const auto* keys = node.options.if_contains("keys"); keys && keys->is_array()) {
    for (const Json& key : keys->get_array()) {
      if (key.is_string()) call.keys.push_back(text_of(key));
    }
  }
  return spec;
}

}  // namespace headway::flow
