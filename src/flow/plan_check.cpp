#include "flow/plan_check.hpp"

#include "core/location.hpp"
#include "flow/range_source.hpp"
#include "flow/row_steps.hpp"
#include "flow/same_columns.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

using BoundSchema = std::shared_ptr<arrow::Schema>;

/// Null: unknown. Remote files are left to who reads them: a driver may not reach them, and would
/// try again and again.
arrow::Result<BoundSchema> shown_schema(Engine& engine, const PlanInput& input, const data::Node& node) {
  if (const auto* range = node.as<data::RangeNode>()) {
    ARROW_ASSIGN_OR_RAISE(const auto source, open_range(*range));
    return source->schema();
  }
  const auto* read = node.as<data::ReadNode>();
  if (read == nullptr || read->blob || std::ranges::any_of(read->paths, is_remote)) return nullptr;
  return schema_of_files(*read, engine.budget().pool(), input.errored_max, engine.seen_rows());
}

arrow::Result<BoundSchema> schema_behind(Engine& engine, const data::Node& node,
                                         const std::vector<BoundSchema>& inputs) {
  if (std::ranges::count(inputs, nullptr) > 0 || node.as<data::FunctionNode>() != nullptr) return nullptr;
  if (is_step(node)) {
    ARROW_ASSIGN_OR_RAISE(const auto step, row_step(node, engine.budget().pool()));
    return step->schema(inputs[0]);
  }
  if (node.as<data::UnionNode>() != nullptr) {
    BoundSchema common;
    for (const BoundSchema& each : inputs) common = common_columns(common, each);
    return common;
  }
  const auto* whole = node.as<data::WholeNode>();
  const bool same = node.as<data::LimitNode>() != nullptr || node.as<data::ShuffleNode>() != nullptr ||
                    node.as<data::RepartitionNode>() != nullptr || (whole != nullptr && whole->operation == "sort");
  return same ? inputs[0] : nullptr;
}

}  // namespace

arrow::Result<std::vector<BoundWhole>> bind_plan(Engine& engine, const PlanInput& input) {
  std::vector<BoundWhole> bound;
  std::vector<BoundSchema> schemas;
  for (const data::Node& node : input.optimised.nodes) {
    std::vector<BoundSchema> inputs;
    for (const std::size_t index : node.inputs) inputs.push_back(schemas[index]);
    const auto* whole = node.as<data::WholeNode>();
    if (whole != nullptr && std::ranges::count(inputs, nullptr) == 0) bound.push_back({whole, inputs});
    ARROW_ASSIGN_OR_RAISE(schemas.emplace_back(),
                          inputs.empty() ? shown_schema(engine, input, node) : schema_behind(engine, node, inputs));
  }
  return bound;
}

}  // namespace headway::flow
