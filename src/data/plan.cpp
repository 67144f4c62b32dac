#include "data/plan.hpp"

#include "data/plan_checks.hpp"

#include <utility>

namespace headway::data {
namespace {

std::string node_words(std::size_t index, std::string_view op) {
  return "node " + std::to_string(index) + " of the plan (" + std::string(op) + ")";
}

Error wrong_node(std::size_t index, std::string_view op, const std::string& reason) {
  return {ErrorKind::invalid_argument, node_words(index, op) + ": " + reason};
}

template <class N>
const JsonObject& default_args() {
  static const JsonObject args = to_json(N{}).get_object();
  return args;
}

/// What is wrong with the arguments; nothing when `to` has them.
template <class N>
std::optional<std::string> read_args(const JsonObject& args, Operation& to) {
  const JsonObject& defaults = default_args<N>();
  JsonObject filled = args;
  for (const auto& [key, value] : defaults) {
    if (!filled.contains(key)) filled[key] = value;
  }
  for (const auto& [key, value] : args) {
    if (defaults.contains(key)) continue;
    std::string known;
    for (const auto& [name, unused] : defaults) known += (known.empty() ? "" : ", ") + std::string(name);
    return "there is no argument \"" + std::string(key) + "\"; allowed: " + (known.empty() ? "none" : known);
  }
  N node;
  if (const auto wrong = codec::read(codec::of<N>, filled, &node)) {
    return "expected " + wrong->expected + ", found " + wrong->found;
  }
  to = std::move(node);
  return {};
}

template <class... N>
std::optional<std::string> read_operation(const std::variant<N...>*, std::string_view op, const JsonObject& args,
                                          Operation& to) {
  std::optional<std::string> wrong;
  const bool known = ((op == N::op && (wrong = read_args<N>(args, to), true)) || ...);
  if (known) return wrong;
  std::string names;
  ((names += (names.empty() ? "" : ", ") + std::string(N::op)), ...);
  return "there is no such operation; allowed: " + names;
}

Result<Node> read_node(const Json& json, std::size_t index) {
  const JsonObject* object = json.if_object();
  const Json* op = object == nullptr ? nullptr : object->if_contains("op");
  if (op == nullptr || !op->is_string()) {
    return Error{ErrorKind::invalid_argument, "node " + std::to_string(index) +
                                                  " of the plan: expected an object with \"op\", found " +
                                                  shown_value(op == nullptr ? json : *op)};
  }
  const std::string_view name = op->get_string();
  Node node;
  if (const Json* inputs = object->if_contains("inputs")) {
    if (const auto wrong = codec::read(codec::of<std::vector<std::size_t>>, *inputs, &node.inputs)) {
      return wrong_node(index, name, "inputs: expected " + wrong->expected + ", found " + wrong->found);
    }
  }
  static const JsonObject no_args;
  const Json* args = object->if_contains("args");
  if (args != nullptr && !args->is_object()) {
    return wrong_node(index, name, "args: expected an object, found " + shown_value(*args));
  }
  const auto wrong = read_operation(static_cast<const Operation*>(nullptr), name,
                                    args == nullptr ? no_args : args->get_object(), node.operation);
  if (wrong) return wrong_node(index, name, *wrong);
  return node;
}

void visit_in_order(const Plan& plan, std::size_t index, std::vector<std::size_t>& places, Plan& ordered) {
  constexpr std::size_t unseen = static_cast<std::size_t>(-1);
  if (places[index] != unseen) return;
  Node node = plan.nodes[index];
  for (std::size_t& input : node.inputs) {
    visit_in_order(plan, input, places, ordered);
    input = places[input];
  }
  places[index] = ordered.nodes.size();
  ordered.nodes.push_back(std::move(node));
}

std::string function_words(const FunctionNode& function) {
  std::string words = "function " + function.name;
  for (const FunctionStep& step : function.then) words += ", " + step.name;
  return words + " (" + std::string(to_json(function.kind).get_string()) + ")";
}

}  // namespace

const char* op_of(const Node& node) {
  return std::visit([](const auto& operation) { return operation.op; }, node.operation);
}

Result<Plan> plan_from_json(const Json& json, std::size_t blobs) {
  const JsonArray* list = json.if_array();
  if (list == nullptr) {
    return Error{ErrorKind::invalid_argument, "a plan is a list of nodes, found " + shown_value(json)};
  }
  Plan plan;
  for (const Json& each : *list) {
    Result<Node> node = read_node(each, plan.nodes.size());
    if (!node) return node.error();
    plan.nodes.push_back(std::move(*node));
  }
  if (const Result<void> checked = check_plan(plan, blobs); !checked) return checked.error();
  return plan;
}

Result<Plan> plan_from_text(std::string_view text, std::size_t blobs) {
  Result<Json> json = parse_json(text, "the plan");
  if (!json) return Error{ErrorKind::invalid_argument, json.error().message};
  return plan_from_json(*json, blobs);
}

Json plan_to_json(const Plan& plan) {
  JsonArray list;
  for (const Node& node : plan.nodes) {
    Json args = std::visit([](const auto& operation) { return to_json(operation); }, node.operation);
    list.push_back(JsonObject{{"op", op_of(node)}, {"inputs", to_json(node.inputs)}, {"args", std::move(args)}});
  }
  return list;
}

Result<void> check_plan(const Plan& plan, std::size_t blobs) {
  if (plan.nodes.empty()) return Error{ErrorKind::invalid_argument, "the plan has no node"};
  for (std::size_t index = 0; index < plan.nodes.size(); ++index) {
    const Node& node = plan.nodes[index];
    for (const std::size_t input : node.inputs) {
      if (input >= index) {
        return wrong_node(index, op_of(node),
                          "its input is node " + std::to_string(input) + "; allowed: earlier nodes");
      }
    }
    if (const auto wrong = what_is_wrong(node, blobs)) return wrong_node(index, op_of(node), *wrong);
  }
  return {};
}

Plan in_order(const Plan& plan) {
  Plan ordered;
  std::vector<std::size_t> places(plan.nodes.size(), static_cast<std::size_t>(-1));
  if (!plan.nodes.empty()) visit_in_order(plan, plan.nodes.size() - 1, places, ordered);
  return ordered;
}

std::optional<std::vector<std::string>> columns_of(const ReadNode& read) {
  const Json* columns = read.options.if_contains("columns");
  if (columns == nullptr || !columns->is_array()) return {};
  std::vector<std::string> names;
  for (const Json& each : columns->get_array()) names.emplace_back(each.get_string());
  return names;
}

void set_columns(ReadNode& read, const std::vector<std::string>& columns) {
  read.options["columns"] = to_json(columns);
}

std::string stage_name(const Node& node) {
  if (const auto* read = node.as<ReadNode>()) return "read " + read->format;
  if (const auto* write = node.as<WriteNode>()) return "write " + write->format;
  if (const auto* whole = node.as<WholeNode>()) return whole->operation;
  const auto* function = node.as<FunctionNode>();
  if (function == nullptr) return op_of(node);
  const auto name_of = [](const FunctionStep& step) {
    return std::string(to_json(step.kind).get_string()) + "(" + step.name + ")";
  };
  std::string name = name_of(*function);
  for (const FunctionStep& step : function->then) name += ", " + name_of(step);
  return name;
}

std::string to_string(const Node& node) {
  if (const auto* read = node.as<ReadNode>()) {
    const std::string paths = read->paths.size() == 1 ? read->paths[0] : std::to_string(read->paths.size()) + " paths";
    return "read " + read->format + ", " + paths;
  }
  if (const auto* function = node.as<FunctionNode>()) return function_words(*function);
  if (const auto* filter = node.as<FilterNode>()) return "filter " + to_string(filter->where);
  if (const auto* limit = node.as<LimitNode>()) return "limit " + std::to_string(limit->rows);
  if (const auto* whole = node.as<WholeNode>()) return whole->operation;
  if (const auto* write = node.as<WriteNode>()) return "write " + write->format + ", " + write->path;
  std::string words = op_of(node);
  if (const auto* project = node.as<ProjectNode>()) {
    for (const NamedExpression& each : project->columns) words += (words == "project" ? " " : ", ") + each.name;
  }
  return words;
}

}  // namespace headway::data
