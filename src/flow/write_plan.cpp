#include "flow/write_plan.hpp"

#include "core/json.hpp"
#include "flow/flow.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/tensor_rows.hpp"
#include "flow/writers/writer.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {
namespace {

/// Without its last node; the node that this one reads is the last one then.
data::Plan without_write(const data::Plan& plan) {
  data::Plan rest = data::in_order(plan);
  rest.nodes.pop_back();
  return rest;
}

class PlanWrite {
 public:
  PlanWrite(Engine& engine, const data::WriteNode& node, Errand& errand, ThreadClock& clock, std::size_t writing)
      : engine_(engine), node_(node), errand_(errand), clock_(clock), writing_(writing) {}

  arrow::Status run(BuiltPlan built) {
    const Stay stay(&clock_, ThreadClock::in(writing_));
    const Errand::Run run(errand_, *built.stage);
    std::int64_t rest = built.rows_max;
    if (auto schema = built.stage->schema()) ARROW_RETURN_NOT_OK(open(schema));
    while (rest != 0 && !done_) {
      ARROW_ASSIGN_OR_RAISE(const auto chunk, built.stage->next());
      if (!chunk) break;
      if (errand_.is_stopped()) return arrow::Status::Cancelled("the client has gone");
      if (chunk->rows == nullptr) continue;
      if (chunk->rows->num_rows() == 0) {
        columns_of_none_ = chunk->rows->schema();
        continue;
      }
      const std::int64_t count = rest < 0 ? chunk->rows->num_rows() : std::min(rest, chunk->rows->num_rows());
      ARROW_RETURN_NOT_OK(add(chunk->rows->Slice(0, count)));
      if (rest > 0) rest -= count;
    }
    built.stage->stop();
    // Without rows the mode holds as well: what is overwritten has no rows either.
    if (writer_ == nullptr && !done_) ARROW_RETURN_NOT_OK(open(columns_of_none_));
    if (writer_ != nullptr) ARROW_RETURN_NOT_OK(writer_->finish().Value(&files_));
    return arrow::Status::OK();
  }

  Json answer() const {
    JsonObject value;
    value["files"] = to_json(files_);
    value["rows"] = rows_;
    return value;
  }

 private:
  arrow::Status open(const std::shared_ptr<arrow::Schema>& schema) {
    ARROW_ASSIGN_OR_RAISE(
        writer_, open_writer(node_, has_lists_ && schema ? with_lists(schema) : schema, engine_.budget().pool(),
                             [this](std::size_t first, std::size_t count) { return errand_.names(first, count); }));
    done_ = writer_ == nullptr;
    return arrow::Status::OK();
  }

  arrow::Status add(const std::shared_ptr<arrow::RecordBatch>& rows) {
    if (writer_ == nullptr) ARROW_RETURN_NOT_OK(open(rows->schema()));
    if (done_) return arrow::Status::OK();
    rows_ += rows->num_rows();
    clock_.gauge(writing_).made(*rows);
    if (!has_lists_) return writer_->write(rows);
    ARROW_ASSIGN_OR_RAISE(const auto writable, with_lists(rows));
    return writer_->write(writable);
  }

  Engine& engine_;
  const data::WriteNode& node_;
  Errand& errand_;
  ThreadClock& clock_;
  const std::size_t writing_;  ///< The stage that writes.
  const bool has_lists_ = node_.format != "numpy";
  std::unique_ptr<Writer> writer_;
  /// Those of a batch without rows; null: none came.
  std::shared_ptr<arrow::Schema> columns_of_none_;
  bool done_ = false;  ///< There are files already, and the mode says to leave them.
  std::vector<std::string> files_;
  std::int64_t rows_ = 0;
};

arrow::Result<Json> written(Engine& engine, const PlanInput& input, Errand& errand,
                            const std::shared_ptr<FlowGauges>& gauges) {
  const auto* node = input.plan.nodes.back().as<data::WriteNode>();
  if (node == nullptr) return arrow::Status::Invalid("a plan that is run ends in a write; this one only makes rows");
  const PlanInput rows{.plan = without_write(input.plan),
                       .optimised = without_write(input.optimised),
                       .blobs = input.blobs,
                       .errored_max = input.errored_max};
  ARROW_ASSIGN_OR_RAISE(BuiltPlan built, PlanBuilder(engine, rows, {}, gauges).build());
  ThreadClock& clock = gauges->puller();
  const std::size_t writing = clock.add(gauges->add(data::stage_name(input.plan.nodes.back())));
  PlanWrite write(engine, *node, errand, clock, writing);
  const std::shared_ptr<const ErroredUnits> errored = built.errored;
  ARROW_RETURN_NOT_OK(write.run(std::move(built)));
  Json answer = write.answer();
  answer.get_object()["stats"] = to_json(gauges->read());
  answer.get_object()["errored"] = errored->count();
  answer.get_object()["first_failure"] = errored->first_failure();
  return answer;
}

}  // namespace

wire::Frame write_plan(Engine& engine, const PlanInput& input, Errand& errand, std::shared_ptr<FlowGauges> gauges) {
  try {
    if (!gauges) gauges = std::make_shared<FlowGauges>(engine.budget());
    auto made = until_wide_enough([&] {
      gauges->begin_anew();
      return written(engine, input, errand, gauges);
    });
    engine.functions()->trim();
    return made.ok() ? wire::to_frame(feed::Answer{std::move(*made)}) : failure_frame(made.status());
  } catch (const std::exception& failure) {
    return failure_frame(Error{ErrorKind::internal, failure.what()});
  }
}

}  // namespace headway::flow
