#include "data/plan_checks.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace headway::data {
namespace {

using Words = std::optional<std::string>;

Words at_least(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value >= least) return {};
  return std::string(name) + " is " + std::to_string(value) + "; allowed: " + std::to_string(least) + " or more";
}

Words at_least(std::string_view name, const std::optional<std::int64_t>& value, std::int64_t least) {
  return value ? at_least(name, *value, least) : Words();
}

/// The first that says something.
Words first_of(std::initializer_list<Words> all) {
  for (const Words& words : all) {
    if (words) return words;
  }
  return {};
}

Words given(std::string_view name, bool is_given) { return is_given ? Words() : std::string(name) + " is missing"; }

Words in_blobs(std::string_view name, std::int64_t blob, std::size_t blobs) {
  if (blob >= 0 && static_cast<std::size_t>(blob) < blobs) return {};
  return std::string(name) + " is " + std::to_string(blob) + "; allowed: the index of one of the " +
         std::to_string(blobs) + " blobs that came with the plan";
}

Words in_blobs(std::string_view name, const std::optional<std::int64_t>& blob, std::size_t blobs) {
  return blob ? in_blobs(name, *blob, blobs) : Words();
}

Words names_once(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return "column \"" + name + "\" is named twice";
  }
  return {};
}

Words check(const ReadNode& read, std::size_t blobs) {
  if (std::ranges::find(read_formats, read.format) == read_formats.end()) {
    std::string allowed;
    for (const std::string_view format : read_formats) allowed += (allowed.empty() ? "" : ", ") + std::string(format);
    return "format is \"" + read.format + "\"; allowed: " + allowed;
  }
  if (const Json* columns = read.options.if_contains("columns"); columns != nullptr && !columns->is_null()) {
    std::vector<std::string> names;
    if (codec::read(codec::of<std::vector<std::string>>, *columns, &names)) {
      return "options.columns is " + shown_value(*columns) + "; allowed: a list of names, or null";
    }
    if (const Words words = names_once(names)) return words;
  }
  return first_of({given("paths", !read.paths.empty()), in_blobs("blob", read.blob, blobs)});
}

Words check(const RangeNode& range, std::size_t) {
  if (range.tensor_shape) {
    for (const std::int64_t length : *range.tensor_shape) {
      if (const Words words = at_least("a length of tensor_shape", length, 0)) return words;
    }
  }
  return at_least("rows", range.rows, 0);
}

Words check(const PythonSourceNode& source, std::size_t blobs) {
  if (source.rows && static_cast<std::int64_t>(source.rows->size()) != source.units) {
    return "rows has " + std::to_string(source.rows->size()) + " numbers; allowed: one for each of the " +
           std::to_string(source.units) + " units";
  }
  return first_of({at_least("units", source.units, 0), in_blobs("function", source.function, blobs)});
}

Words check(const ProjectNode& project, std::size_t) {
  std::vector<std::string> names;
  for (const NamedExpression& each : project.columns) names.push_back(each.name);
  return first_of({given("columns", !names.empty()), names_once(names)});
}

Words check(const DropNode& drop, std::size_t) { return given("columns", !drop.columns.empty()); }

Words check(const FilterNode&, std::size_t) { return {}; }

Words check_step(const FunctionStep& step, std::size_t blobs) {
  if (step.batch_size && step.kind != FunctionKind::map_batches) return "batch_size is for map_batches";
  return first_of({in_blobs("blob", step.blob, blobs), at_least("batch_size", step.batch_size, 1)});
}

Words check(const FunctionNode& function, std::size_t blobs) {
  for (const FunctionStep& step : function.then) {
    if (const Words words = check_step(step, blobs)) return words;
  }
  if (const auto& workers = function.workers;
      workers && (workers->size() != 2 || (*workers)[0] < 0 || (*workers)[1] < std::max(1, (*workers)[0]))) {
    return "workers is " + json_text(to_json(*workers)) + "; allowed: [least, most], most 1 or more";
  }
  if (!(function.num_cpus >= 0)) return "num_cpus is " + shown_value(function.num_cpus) + "; allowed: 0 or more";
  if (!(function.num_gpus >= 0)) return "num_gpus is " + shown_value(function.num_gpus) + "; allowed: 0 or more";
  return check_step(function, blobs);
}

Words check(const LimitNode& limit, std::size_t) { return at_least("rows", limit.rows, 0); }

Words check(const SampleNode& sample, std::size_t) {
  if (sample.fraction >= 0 && sample.fraction <= 1) return {};
  return "fraction is " + shown_value(sample.fraction) + "; allowed: 0 to 1";
}

Words check(const UnionNode&, std::size_t) { return {}; }
Words check(const ZipNode&, std::size_t) { return {}; }

Words check(const MixNode& mix, std::size_t) {
  for (const double weight : mix.weights) {
    if (!(weight > 0) || weight > std::numeric_limits<double>::max()) {
      return "a weight is " + shown_value(weight) + "; allowed: more than 0";
    }
  }
  return {};
}

Words check(const ShuffleNode& shuffle, std::size_t) { return at_least("window_bytes", shuffle.window_bytes, 1); }

Words check(const RepartitionNode& repartition, std::size_t) {
  const auto& [blocks, rows, at] = repartition;
  if (int{blocks.has_value()} + int{rows.has_value()} + int{at.has_value()} != 1) {
    return "one of blocks, rows and at is given";
  }
  const auto is_number = [](const Json& value) { return value.is_number(); };
  if (at && !std::ranges::all_of(at->values, is_number)) {
    return "at.values is " + shown_value(at->values) + "; allowed: numbers";
  }
  return first_of({at_least("blocks", blocks, 1), at_least("rows", rows, 1)});
}

Words check(const WholeNode& whole, std::size_t blobs) {
  return first_of({given("operation", !whole.operation.empty()), in_blobs("blob", whole.blob, blobs)});
}

Words check(const WriteNode& write, std::size_t blobs) {
  return first_of({given("format", !write.format.empty()), given("path", !write.path.empty()),
                   in_blobs("blob", write.blob, blobs)});
}

struct InputCount {
  std::size_t least;
  std::size_t most;
};

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

InputCount inputs_allowed(const Node& node) {
  if (node.as<ReadNode>() || node.as<RangeNode>() || node.as<PythonSourceNode>()) return {0, 0};
  if (node.as<UnionNode>() || node.as<ZipNode>()) return {2, any_number};
  if (const auto* mix = node.as<MixNode>()) return {mix->weights.size(), mix->weights.size()};
  if (node.as<WholeNode>()) return {1, 2};
  return {1, 1};
}

}  // namespace

std::optional<std::string> what_is_wrong(const Node& node, std::size_t blobs) {
  const InputCount allowed = inputs_allowed(node);
  if (node.inputs.size() < allowed.least || node.inputs.size() > allowed.most) {
    std::string most = allowed.most == any_number ? " or more" : " to " + std::to_string(allowed.most);
    if (allowed.least == allowed.most) most.clear();
    return "it has " + std::to_string(node.inputs.size()) + " inputs; allowed: " + std::to_string(allowed.least) + most;
  }
  return std::visit([&](const auto& operation) { return check(operation, blobs); }, node.operation);
}

}  // namespace headway::data
