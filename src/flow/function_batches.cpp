#include "flow/function_batches.hpp"

#include <algorithm>
#include <numeric>

namespace headway::flow {
namespace {

constexpr std::int64_t rows_max = std::int64_t{1} << 20;

bool changes_rows(const data::FunctionStep& step) {
  return step.kind == data::FunctionKind::flat_map || step.kind == data::FunctionKind::filter;
}

}  // namespace

std::optional<std::int64_t> multiple_of(std::int64_t a, std::int64_t b) {
  if (a > rows_max || b > rows_max) return std::nullopt;
  const std::int64_t multiple = std::lcm(a, b);
  return multiple > rows_max ? std::nullopt : std::optional(multiple);
}

std::optional<std::int64_t> batch_rows_of(const data::FunctionNode& node, std::int64_t otherwise) {
  std::optional<std::int64_t> rows = 1;
  bool same_rows = true;
  const auto add = [&](const data::FunctionStep& step) {
    const bool takes_batches = step.kind == data::FunctionKind::map_batches;
    const std::int64_t wanted = takes_batches ? step.batch_size.value_or(same_rows ? otherwise : 1) : 1;
    if (rows) rows = same_rows || wanted == 1 ? multiple_of(*rows, wanted) : std::nullopt;
    same_rows = same_rows && !changes_rows(step);
  };
  add(node);
  for (const data::FunctionStep& step : node.then) add(step);
  return rows;
}

bool changes_rows(const data::FunctionNode& node) {
  const auto changes = [](const data::FunctionStep& step) { return changes_rows(step); };
  return changes(node) || std::ranges::any_of(node.then, changes);
}

bool keeps_rows(const data::FunctionNode& node) {
  const auto keeps = [](const data::FunctionStep& step) { return !step.changes_rows; };
  return keeps(node) && std::ranges::all_of(node.then, keeps);
}

}  // namespace headway::flow
