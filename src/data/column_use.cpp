#include "data/column_use.hpp"

namespace headway::data {
namespace {

void add(const std::set<std::string>& more, ColumnsUsed& used) {
  if (used) used->insert(more.begin(), more.end());
}

void add(const ColumnsUsed& more, ColumnsUsed& used) {
  if (!more) used.reset();
  if (more) add(*more, used);
}

ColumnsUsed below_project(const ProjectNode& project, const ColumnsUsed& above) {
  ColumnsUsed below = project.keep ? above : ColumnsUsed(std::set<std::string>());
  if (below) {
    for (const NamedExpression& made : project.columns) below->erase(made.name);
  }
  for (const NamedExpression& made : project.columns) {
    // An expression that nobody needs is computed all the same.
    add(columns_read(made.expression), below);
  }
  return below;
}

/// What a node uses of its input when `above` is used of what it gives.
ColumnsUsed below(const Node& node, const ColumnsUsed& above) {
  if (const auto* project = node.as<ProjectNode>()) return below_project(*project, above);
  ColumnsUsed used = above;
  if (const auto* filter = node.as<FilterNode>()) {
    add(columns_read(filter->where), used);
  } else if (const auto* drop = node.as<DropNode>()) {
    add(std::set(drop->columns.begin(), drop->columns.end()), used);
  } else if (const auto* cut = node.as<RepartitionNode>(); cut != nullptr && cut->at) {
    add(std::set({cut->at->column}), used);
  } else if (!node.as<LimitNode>() && !node.as<SampleNode>() && !node.as<ShuffleNode>() &&
             !node.as<RepartitionNode>() && !node.as<UnionNode>() && !node.as<MixNode>()) {
    used.reset();
  }
  return used;
}

}  // namespace

std::vector<ColumnsUsed> columns_used(const Plan& plan) {
  std::vector<ColumnsUsed> used(plan.nodes.size(), ColumnsUsed(std::set<std::string>()));
  used.back().reset();
  for (std::size_t index = plan.nodes.size(); index-- > 0;) {
    const Node& node = plan.nodes[index];
    for (const std::size_t input : node.inputs) add(below(node, used[index]), used[input]);
  }
  return used;
}

Expression substituted(const Expression& expression, const std::map<std::string, Expression>& made) {
  if (expression.kind == Expression::Kind::column) {
    const auto found = made.find(expression.name);
    return found == made.end() ? expression : found->second;
  }
  Expression result = expression;
  for (Expression& arg : result.args) arg = substituted(arg, made);
  return result;
}

}  // namespace headway::data
