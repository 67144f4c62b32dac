#pragma once

#include "data/plan_nodes.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What a data set is: operations over other operations, without a row in it.
///
/// As JSON a plan is a list of `{"op": NAME, "inputs": [INDEX...], "args": {...}}`. Inputs are
/// earlier nodes; the last node is the result.
namespace headway::data {

inline constexpr std::array<std::string_view, 12> read_formats = {
    "arrow", "avro", "binary", "csv", "images", "json", "numpy", "orc", "parquet", "text", "tfrecord", "webdataset"};

using Operation =
    std::variant<ReadNode, RangeNode, PythonSourceNode, ProjectNode, DropNode, FilterNode, FunctionNode, LimitNode,
                 SampleNode, UnionNode, ZipNode, MixNode, ShuffleNode, RepartitionNode, WholeNode, WriteNode>;

struct Node {
  Operation operation;
  std::vector<std::size_t> inputs;

  template <class N>
  const N* as() const {
    return std::get_if<N>(&operation);
  }
  template <class N>
  N* as() {
    return std::get_if<N>(&operation);
  }
};

struct Plan {
  std::vector<Node> nodes;  ///< Not empty; the last one is the result.
};

const char* op_of(const Node& node);

/// A plan from JSON, checked. `blobs` is how many came with it. Errors: `invalid_argument`, which
/// names the node, the argument, what was found and what is allowed.
Result<Plan> plan_from_json(const Json& json, std::size_t blobs);
Result<Plan> plan_from_text(std::string_view text, std::size_t blobs);

/// All arguments, those with default values too.
Json plan_to_json(const Plan& plan);

/// What `plan_from_json` checks, for plans that were made in another way.
Result<void> check_plan(const Plan& plan, std::size_t blobs);

/// The plan without nodes that the result does not need, each node as soon as its inputs are there.
/// Plans that mean the same are the same after this.
Plan in_order(const Plan& plan);

/// The columns that a read is asked for; nothing: all.
std::optional<std::vector<std::string>> columns_of(const ReadNode& read);
void set_columns(ReadNode& read, const std::vector<std::string>& columns);

/// One line for people: `read parquet, 3 paths`, `function scale (map_batches)`.
std::string to_string(const Node& node);

/// Its name among the stages of a flow: "read parquet", "map_batches(scale)".
std::string stage_name(const Node& node);

}  // namespace headway::data
