#include "flow/questions.hpp"

#include "data/function_workers.hpp"
#include "data/rules.hpp"
#include "flow/flow.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/plan_check.hpp"

#include <arrow/ipc/writer.h>

namespace headway::flow {
namespace {

using Answered = arrow::Result<wire::Frame>;

wire::Frame value_of(Json value, wire::Blob blob = nullptr) {
  return wire::to_frame(feed::Answer{std::move(value)}, std::move(blob));
}

/// Where only rows show the schema, the first ones are made.
arrow::Result<std::shared_ptr<arrow::Schema>> schema_of(Engine& engine, const PlanInput& input, Errand& errand) {
  ARROW_ASSIGN_OR_RAISE(const BuiltPlan built, PlanBuilder(engine, input, {}).build());
  const Errand::Run run(errand, *built.stage);
  auto schema = built.stage->schema();
  while (schema == nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto chunk, built.stage->next());
    if (!chunk) return arrow::Status::Invalid("the data set has no rows, and only rows would show its columns");
    if (chunk->rows != nullptr) schema = chunk->rows->schema();
  }
  return slot_schema(schema);
}

Answered answer_schema(Engine& engine, const PlanInput& input, Errand& errand) {
  ARROW_ASSIGN_OR_RAISE(const auto schema, schema_of(engine, input, errand));
  ARROW_ASSIGN_OR_RAISE(const auto text, arrow::ipc::SerializeSchema(*schema));
  return value_of(to_json(layout_of(*schema, 0)), std::make_shared<const std::string>(text->ToString()));
}

Answered answer_check(Engine& engine, const PlanInput& input) {
  ARROW_ASSIGN_OR_RAISE(const auto bound, bind_plan(engine, input));
  JsonArray wholes;
  std::string schemas;
  for (const BoundWhole& each : bound) {
    JsonArray sizes;
    for (const auto& schema : each.inputs) {
      ARROW_ASSIGN_OR_RAISE(const auto text, arrow::ipc::SerializeSchema(*schema));
      sizes.emplace_back(text->size());
      schemas += text->ToString();
    }
    wholes.emplace_back(JsonObject{
        {"operation", each.whole->operation}, {"options", each.whole->options}, {"schema_bytes", std::move(sizes)}});
  }
  return value_of(std::move(wholes), std::make_shared<const std::string>(std::move(schemas)));
}

/// @param stats What the count took; null: the number was known, and nothing was run.
Answered counted(std::int64_t rows, const ErroredUnits& errored, Json stats) {
  return value_of(JsonObject{{"rows", rows},
                             {"errored", errored.count()},
                             {"first_failure", errored.first_failure()},
                             {"stats", std::move(stats)}});
}

Answered answer_count(Engine& engine, const PlanInput& input, const std::shared_ptr<FlowGauges>& gauges,
                      Errand& errand) {
  ARROW_ASSIGN_OR_RAISE(std::int64_t rows, PlanBuilder(engine, input, {}).known_rows());
  if (rows >= 0) return counted(rows, ErroredUnits(0), nullptr);
  ARROW_ASSIGN_OR_RAISE(BuiltPlan built, PlanBuilder(engine, input, {}, gauges).build());
  built.stage = gauged(std::move(built.stage), gauges, "count");
  const Errand::Run run(errand, *built.stage);
  rows = 0;
  while (built.rows_max < 0 || rows < built.rows_max) {
    ARROW_ASSIGN_OR_RAISE(const auto chunk, built.stage->next());
    if (!chunk) break;
    if (chunk->rows != nullptr) rows += chunk->rows->num_rows();
  }
  return counted(built.rows_max < 0 ? rows : std::min(rows, built.rows_max), *built.errored,
                 gauges ? to_json(gauges->read()) : Json(nullptr));
}

Answered answered(Engine& engine, const std::string& what, const PlanInput& input,
                  const std::shared_ptr<FlowGauges>& gauges, Errand& errand) {
  if (what == "schema") return answer_schema(engine, input, errand);
  if (what == "check") return answer_check(engine, input);
  if (what == "count") return answer_count(engine, input, gauges, errand);
  if (what == "size") {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, PlanBuilder(engine, input, {}).bytes());
    return value_of(bytes);
  }
  if (what == "files") {
    ARROW_ASSIGN_OR_RAISE(const auto files, PlanBuilder(engine, input, {}).files());
    return value_of(to_json(files));
  }
  if (what == "explain") {
    std::string text;
    for (const data::Node& node : input.optimised.nodes) text += data::to_string(node) + "\n";
    return value_of(Json(text));
  }
  return arrow::Status::Invalid("\"", what, "\" is no question; there are schema, check, count, size, files, explain");
}

arrow::Result<wire::Frame> invited(Engine& engine, const feed::Invite& invite) {
  const Result<data::Plan> plan = data::plan_from_json(invite.plan, invite.blobs);
  if (!plan) return arrow::Status::Invalid(plan.error().message);
  data::Rules rules;
  rules.fuse_functions = true;
  const data::WantedWorkers wanted =
      data::workers_elsewhere(data::optimised(*plan, rules), static_cast<int>(engine.threads()), invite.first);
  FunctionDesk& desk = *engine.functions()->desk();
  arrow::Result<FunctionDesk::Place> place = FunctionDesk::Place{};
  if (wanted.workers != 0) {
    place = desk.open(invite.host);
    // Behind a translation of addresses, it is not this machine's own.
    if (!place.ok()) place = desk.open("0.0.0.0");
  }
  if (wanted.workers == 0 || !place.ok()) {
    const std::string problem = place.ok() ? "" : place.status().message();
    return value_of(JsonObject{{"port", 0}, {"token", ""}, {"workers", 0}, {"cpus", 0.0}, {"problem", problem}});
  }
  const Json workers = wanted.workers ? Json(*wanted.workers) : Json(nullptr);
  return value_of(JsonObject{
      {"port", place->port}, {"token", place->token}, {"workers", workers}, {"cpus", wanted.cpus}, {"problem", ""}});
}

}  // namespace

wire::Frame answer(Engine& engine, const feed::Invite& invite) {
  try {
    const arrow::Result<wire::Frame> made = invited(engine, invite);
    return made.ok() ? wire::Frame{made->json, made->blob} : failure_frame(made.status());
  } catch (const std::exception& failure) {
    return failure_frame(Error{ErrorKind::internal, failure.what()});
  }
}

wire::Frame answer(Engine& engine, const std::string& what, const PlanInput& input,
                   const std::shared_ptr<FlowGauges>& gauges, Errand& errand) {
  try {
    const Answered made = until_wide_enough([&] {
      if (gauges) gauges->begin_anew();
      return answered(engine, what, input, gauges, errand);
    });
    return made.ok() ? wire::Frame{made->json, made->blob} : failure_frame(made.status());
  } catch (const std::exception& failure) {
    return failure_frame(Error{ErrorKind::internal, failure.what()});
  }
}

}  // namespace headway::flow
