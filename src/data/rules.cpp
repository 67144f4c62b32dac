#include "data/rules.hpp"

#include "data/column_use.hpp"

#include <algorithm>
#include <map>

namespace headway::data {
namespace {

/// Rewrites a plan, one step after the other.
class Rewriter {
 public:
  Rewriter(const Plan& plan, const Rules& rules) : plan_(plan), rules_(rules) {}

  Plan take() {
    // This ends: filters and limits only sink, and fusing makes plans shorter.
    while (rewrite_once()) plan_ = in_order(plan_);
    plan_ = in_order(plan_);
    if (rules_.narrow_reads) narrow_reads();
    return std::move(plan_);
  }

 private:
  bool rewrite_once() {
    for (std::size_t index = 0; index < plan_.nodes.size(); ++index) {
      const Node& node = plan_.nodes[index];
      if (node.inputs.size() != 1 || uses_of(node.inputs[0]) != 1) continue;
      const std::size_t below = node.inputs[0];
      if ((rules_.lower_filters && (lower_filter(index, below) || lower_filter_into_union(index, below))) ||
          (rules_.lower_limits && lower_limit(index, below)) || (rules_.fuse_projects && fuse_projects(index, below)) ||
          (rules_.fuse_functions && fuse_functions(index, below))) {
        return true;
      }
    }
    return false;
  }

  std::size_t uses_of(std::size_t index) const {
    std::size_t uses = 0;
    for (const Node& node : plan_.nodes) uses += static_cast<std::size_t>(std::ranges::count(node.inputs, index));
    return uses;
  }

  /// The node above does its work first; both have one input.
  void swap(std::size_t above, std::size_t below) {
    std::swap(plan_.nodes[above].operation, plan_.nodes[below].operation);
  }

  /// Leaves the node above out: the one below does its work too.
  void fuse_into(std::size_t below, std::size_t above) {
    Node fused = plan_.nodes[below];
    plan_.nodes[above] = std::move(fused);
  }

  bool lower_filter(std::size_t above, std::size_t below) {
    auto* filter = plan_.nodes[above].as<FilterNode>();
    if (filter == nullptr) return false;
    const Node& node = plan_.nodes[below];
    if (const auto* project = node.as<ProjectNode>()) {
      const auto where = below_project(filter->where, *project);
      if (!where) return false;
      filter->where = *where;
    } else if (const auto* drop = node.as<DropNode>()) {
      const auto read = columns_read(filter->where);
      if (std::ranges::any_of(drop->columns, [&](const std::string& each) { return read.contains(each); }))
        return false;
    } else {
      return false;
    }
    swap(above, below);
    return true;
  }

  /// The condition over the project's input; nothing: it must stay above.
  static std::optional<Expression> below_project(const Expression& where, const ProjectNode& project) {
    std::map<std::string, Expression> made;
    for (const NamedExpression& each : project.columns) {
      if (!is_pure(each.expression)) return {};
      made[each.name] = each.expression;
    }
    if (!project.keep) {
      for (const std::string& name : columns_read(where)) {
        if (!made.contains(name)) return {};
      }
    }
    // What makes the columns is computed twice then: worth it for something small.
    constexpr std::size_t size_max = 32;
    Expression lowered = substituted(where, made);
    if (size_of(lowered) > std::max(size_max, size_of(where))) return {};
    return lowered;
  }

  bool lower_filter_into_union(std::size_t above, std::size_t below) {
    const auto* filter = plan_.nodes[above].as<FilterNode>();
    // A value that depends on the row's place is another one before the union.
    if (filter == nullptr || !is_pure(filter->where) || !plan_.nodes[below].as<UnionNode>()) return false;
    const FilterNode copied = *filter;
    // The copies of the filter come where the union was; it takes the filter's place.
    Node united = plan_.nodes[below];
    Plan grown;
    grown.nodes.assign(plan_.nodes.begin(), plan_.nodes.begin() + static_cast<std::ptrdiff_t>(below));
    for (std::size_t& input : united.inputs) {
      grown.nodes.push_back({copied, {input}});
      input = grown.nodes.size() - 1;
    }
    const std::size_t shift = grown.nodes.size() - below;
    for (std::size_t index = below; index < plan_.nodes.size(); ++index) {
      Node node = index == above ? united : plan_.nodes[index];
      if (index != above) {
        for (std::size_t& input : node.inputs) input += input >= below ? shift : 0;
      }
      grown.nodes.push_back(std::move(node));
    }
    plan_ = std::move(grown);
    return true;
  }

  bool lower_limit(std::size_t above, std::size_t below) {
    const auto* limit = plan_.nodes[above].as<LimitNode>();
    if (limit == nullptr) return false;
    Node& node = plan_.nodes[below];
    if (auto* inner = node.as<LimitNode>()) {
      inner->rows = std::min(inner->rows, limit->rows);
    } else {
      const auto* function = node.as<FunctionNode>();
      const bool is_row_by_row =
          function != nullptr && function->kind == FunctionKind::map &&
          std::ranges::all_of(function->then, [](const FunctionStep& step) { return step.kind == FunctionKind::map; });
      if (!is_row_by_row && !node.as<ProjectNode>() && !node.as<DropNode>()) return false;
      swap(above, below);
      return true;
    }
    fuse_into(below, above);
    return true;
  }

  bool fuse_projects(std::size_t above, std::size_t below) {
    const auto* outer = plan_.nodes[above].as<ProjectNode>();
    auto* inner = plan_.nodes[below].as<ProjectNode>();
    if (outer == nullptr || inner == nullptr) return false;
    std::map<std::string, Expression> made;
    std::size_t size_before = 0;
    for (const NamedExpression& each : inner->columns) {
      if (!is_pure(each.expression)) return false;
      made[each.name] = each.expression;
      size_before += size_of(each.expression);
    }
    ProjectNode fused;
    fused.keep = inner->keep && outer->keep;
    if (outer->keep) fused.columns = inner->columns;
    for (const NamedExpression& each : outer->columns) {
      size_before += size_of(each.expression);
      for (const std::string& name : columns_read(each.expression)) {
        if (!inner->keep && !made.contains(name)) return false;  // The executor names the column.
      }
      const auto same = std::ranges::find(fused.columns, each.name, &NamedExpression::name);
      NamedExpression lowered{each.name, substituted(each.expression, made)};
      if (same == fused.columns.end()) {
        fused.columns.push_back(std::move(lowered));
      } else {
        *same = std::move(lowered);
      }
    }
    std::size_t size_after = 0;
    for (const NamedExpression& each : fused.columns) size_after += size_of(each.expression);
    if (size_after > size_before) return false;  // Something would be computed twice.
    *inner = std::move(fused);
    fuse_into(below, above);
    return true;
  }

  /// Whether a function takes rows one by one.
  static bool is_row_wise(const FunctionStep& step) { return step.kind != FunctionKind::map_batches; }

  /// Whether `then` gets the same batches in the worker of `first` as it would get in another one.
  static bool gets_same_batches(const FunctionStep& first, const FunctionStep& then) {
    if (is_row_wise(then)) return true;
    const bool keeps_rows = first.kind == FunctionKind::map || (!is_row_wise(first) && !first.changes_rows);
    return keeps_rows && !is_row_wise(first) && first.batch_size == then.batch_size;
  }

  bool fuse_functions(std::size_t above, std::size_t below) {
    const auto* outer = plan_.nodes[above].as<FunctionNode>();
    auto* inner = plan_.nodes[below].as<FunctionNode>();
    if (outer == nullptr || inner == nullptr || outer->workers != inner->workers ||
        outer->num_gpus != inner->num_gpus || outer->num_cpus != inner->num_cpus || outer->seeded != inner->seeded) {
      return false;
    }
    // All before `outer` must keep its batches whole.
    if (!gets_same_batches(*inner, *outer)) return false;
    for (const FunctionStep& step : inner->then) {
      if (!is_row_wise(*outer) && !gets_same_batches(step, *outer)) return false;
    }
    inner->then.push_back(*outer);
    inner->then.insert(inner->then.end(), outer->then.begin(), outer->then.end());
    fuse_into(below, above);
    return true;
  }

  void narrow_reads() {
    const auto used = columns_used(plan_);
    for (std::size_t index = 0; index < plan_.nodes.size(); ++index) {
      auto* read = plan_.nodes[index].as<ReadNode>();
      // A list without names would say that nobody counts the rows either.
      if (read == nullptr || !used[index] || used[index]->empty()) continue;
      std::vector<std::string> columns(used[index]->begin(), used[index]->end());
      if (const auto asked = columns_of(*read)) {
        columns.clear();
        for (const std::string& name : *asked) {
          if (used[index]->contains(name)) columns.push_back(name);
        }
        if (columns.empty()) continue;
      }
      set_columns(*read, columns);
    }
  }

  Plan plan_;
  Rules rules_;
};

}  // namespace

Plan optimised(const Plan& plan, const Rules& rules) { return Rewriter(plan, rules).take(); }

}  // namespace headway::data
