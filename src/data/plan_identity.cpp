#include "data/plan_identity.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>

namespace headway::data {
namespace {

/// A longer list of paths is represented by its digest.
constexpr std::size_t paths_max = 8;

Json with_sorted_keys(const Json& value) {
  if (const JsonArray* array = value.if_array()) {
    JsonArray sorted;
    for (const Json& each : *array) sorted.push_back(with_sorted_keys(each));
    return sorted;
  }
  const JsonObject* object = value.if_object();
  if (object == nullptr) return value;
  std::vector<std::string> keys;
  for (const auto& [key, unused] : *object) keys.emplace_back(key);
  std::ranges::sort(keys);
  JsonObject sorted;
  for (const std::string& key : keys) sorted[key] = with_sorted_keys(object->at(key));
  return sorted;
}

/// A pickled function has the digest of what it does behind it (`_function_digest.py`): its bytes
/// differ from process to process.
std::string digest_of_function(std::string_view blob) {
  constexpr std::string_view mark = "headway-function:";
  constexpr std::size_t digits = 32;
  if (blob.size() < mark.size() + digits) return digest_of(blob);
  const std::string_view tail = blob.substr(blob.size() - mark.size() - digits);
  return tail.starts_with(mark) ? std::string(tail.substr(mark.size())) : digest_of(blob);
}

std::string digest_in(std::int64_t blob, std::span<const std::string_view> blobs) {
  const auto index = static_cast<std::size_t>(blob);
  return blob >= 0 && index < blobs.size() ? digest_of_function(blobs[index]) : "none";
}

/// The blob under `key`, where there is one, as its digest.
void name_blob(JsonObject& args, const char* key, std::span<const std::string_view> blobs) {
  Json* blob = args.if_contains(key);
  if (blob != nullptr && blob->is_int64()) *blob = digest_in(blob->get_int64(), blobs);
}

void name_function(JsonObject& step, std::span<const std::string_view> blobs) {
  const std::string given(step.at("digest").get_string());
  step.erase("digest");
  if (given.empty()) {
    name_blob(step, "blob", blobs);
  } else {
    step["blob"] = given;
  }
}

/// Whether a file is named after its content, such as what data sets from memory are written to.
bool is_named_by_digest(std::string_view name) {
  constexpr std::string_view suffix = ".arrow";
  constexpr std::size_t digits = 32;
  return name.size() == digits + suffix.size() && name.ends_with(suffix) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

/// The name of a file that is named after its content: it may lie elsewhere the next time. Else the
/// whole path.
std::string_view lasting_path(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0.
  return is_named_by_digest(name) ? name : path;
}

void shorten_paths(JsonObject& args) {
  JsonArray& paths = args.at("paths").get_array();
  for (Json& path : paths) path = std::string(lasting_path(path.get_string()));
  if (paths.size() <= paths_max) return;
  const std::string rest = std::to_string(paths.size()) + " paths, " + digest_of(json_text(paths));
  paths = {paths.front(), rest, paths.back()};
}

JsonObject identity_of_node(const Node& node, std::span<const std::string_view> blobs) {
  Json written = std::visit([](const auto& operation) { return to_json(operation); }, node.operation);
  JsonObject& args = written.get_object();
  if (node.as<ReadNode>()) {
    shorten_paths(args);
    args.erase("blob");  // The paths have its digest.
  }
  if (node.as<FunctionNode>()) {
    args.erase("workers");
    args.erase("num_gpus");
    args.erase("num_cpus");
    name_function(args, blobs);
    for (Json& step : args.at("then").get_array()) name_function(step.get_object(), blobs);
  }
  if (node.as<PythonSourceNode>()) name_blob(args, "function", blobs);
  if (node.as<WholeNode>() || node.as<WriteNode>()) name_blob(args, "blob", blobs);
  return {{"args", with_sorted_keys(written)}, {"inputs", to_json(node.inputs)}, {"op", op_of(node)}};
}

/// A node without its inputs.
std::string own_text(const JsonObject& node) { return json_text(node.at("op")) + json_text(node.at("args")); }

std::string op_in(const JsonObject& node) { return std::string(node.at("op").get_string()); }

/// "function scale", "limit".
std::string node_words(const JsonObject& node) {
  std::string words = op_in(node);
  for (const char* key : {"name", "format", "operation"}) {
    const Json* value = node.at("args").get_object().if_contains(key);
    if (value != nullptr && value->is_string() && !value->get_string().empty())
      words += " " + std::string(value->get_string());
  }
  return words;
}

std::string shown(const Json* value) {
  constexpr std::size_t bytes_max = 80;
  if (value == nullptr) return "nothing";
  const std::string text = json_text(*value);
  return text.size() <= bytes_max ? text : shown_value(*value) + " of " + std::to_string(text.size()) + " bytes";
}

void add_words(std::string words, std::string& all) { all += (all.empty() ? "" : "; ") + std::move(words); }

/// Whether paths are those of rows that the program kept: in memory, or by materialize().
bool are_of_kept_rows(const Json& paths) {
  const JsonArray* array = paths.if_array();
  return array != nullptr && !array->empty() && array->front().is_string() &&
         is_named_by_digest(array->front().get_string());
}

/// What differs between two nodes of the same operation.
void compare_args(const JsonObject& before, const JsonObject& now, std::string& words) {
  const JsonObject& old_args = before.at("args").get_object();
  const JsonObject& new_args = now.at("args").get_object();
  std::string changes;
  for (const auto& [key, value] : new_args) {
    const Json* old_value = old_args.if_contains(key);
    if (old_value != nullptr && *old_value == value) continue;
    if (!changes.empty()) changes += ", ";
    if (key == "blob" || key == "function") {
      changes += "its function is another one";
    } else if (key == "paths" && are_of_kept_rows(value) && old_value != nullptr && are_of_kept_rows(*old_value)) {
      changes += "the rows from memory, or of materialize(), are others (rows that are drawn by chance need a seed)";
    } else {
      changes += std::string(key) + " was " + shown(old_value) + ", is " + shown(&value);
    }
  }
  if (!changes.empty()) add_words(node_words(now) + ": " + changes, words);
}

/// For each node of `before` the equal node of `now` in a longest common subsequence.
std::vector<std::optional<std::size_t>> equal_nodes(const std::vector<JsonObject>& before,
                                                    const std::vector<JsonObject>& now) {
  std::vector<std::vector<std::size_t>> lengths(before.size() + 1, std::vector<std::size_t>(now.size() + 1));
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = now.size(); j-- > 0;) {
      lengths[i][j] = own_text(before[i]) == own_text(now[j]) ? lengths[i + 1][j + 1] + 1
                                                              : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  std::vector<std::optional<std::size_t>> equal(before.size());
  for (std::size_t i = 0, j = 0; i < before.size() && j < now.size();) {
    if (own_text(before[i]) == own_text(now[j])) {
      equal[i++] = j++;
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return equal;
}

/// Nodes [i, i_end) were where [j, j_end) are now: of the same operation they are changed, else
/// gone or new.
void compare_runs(std::span<const JsonObject> before, std::span<const JsonObject> now, std::string& words) {
  for (const JsonObject& old_node : before) {
    const auto match =
        std::ranges::find_if(now, [&](const JsonObject& node) { return op_in(node) == op_in(old_node); });
    if (match == now.end()) {
      add_words(node_words(old_node) + " is gone", words);
      continue;
    }
    const auto index = static_cast<std::size_t>(match - now.begin());
    for (const JsonObject& added : now.first(index)) add_words(node_words(added) + " is new", words);
    compare_args(old_node, *match, words);
    now = now.subspan(index + 1);
  }
  for (const JsonObject& added : now) add_words(node_words(added) + " is new", words);
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "xxh3:%016llx",
                static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  return text;
}

PlanIdentity identity_of(const Plan& plan, std::span<const std::string_view> blobs) {
  PlanIdentity identity;
  for (const Node& node : in_order(plan).nodes) identity.nodes.push_back(identity_of_node(node, blobs));
  return identity;
}

std::string canonical_text(const PlanIdentity& identity) { return json_text(to_json(identity.nodes)); }

std::string plan_hash(const PlanIdentity& identity) { return digest_of(canonical_text(identity)); }

std::string difference(const PlanIdentity& before, const PlanIdentity& now) {
  std::string words;
  const std::span<const JsonObject> old_nodes = before.nodes;
  const std::span<const JsonObject> new_nodes = now.nodes;
  const auto equal = equal_nodes(before.nodes, now.nodes);
  std::size_t i = 0;
  std::size_t j = 0;
  for (std::size_t next = 0; next <= equal.size(); ++next) {
    if (next < equal.size() && !equal[next]) continue;
    const std::size_t next_new = next < equal.size() ? *equal[next] : new_nodes.size();
    compare_runs(old_nodes.subspan(i, next - i), new_nodes.subspan(j, next_new - j), words);
    i = next + 1;
    j = next_new + 1;
  }
  if (words.empty() && canonical_text(before) != canonical_text(now)) return "its nodes have other inputs";
  return words;
}

}  // namespace headway::data
