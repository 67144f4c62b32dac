#include <headway/data/dataset.hpp>

#include "library/batch_functions.hpp"
#include "library/data_client.hpp"
#include "library/data_iterator.hpp"
#include "library/plan_arguments.hpp"
#include "library/text_check.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace headway {
namespace library {

void refuse(std::string message) { throw BadResult({ErrorKind::invalid_argument, std::move(message)}); }

Json column_names(const char* argument, const std::vector<std::string>& names) {
  if (names.empty()) refuse(std::string(argument) + " is empty; allowed: at least one column's name");
  Json all = Json::array();
  std::set<std::string> seen;
  for (const std::string& name : names) {
    check_text(argument, name).value();
    if (name.empty()) refuse(std::string(argument) + " has \"\"; allowed: columns' names");
    if (!seen.insert(name).second) refuse(std::string(argument) + " has \"" + name + "\" twice; allowed: a name once");
    all.push_back(name);
  }
  return all;
}

Json shuffle_arguments(const std::string& argument, const data::ShuffleOptions& options) {
  Json made = {{"seed", nullptr}, {"reseed", options.reseed}};
  if (!options.seed) return made;
  if (*options.seed > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    refuse(argument + " is " + std::to_string(*options.seed) + "; allowed: none, or 0 to 2^63 - 1");
  }
  made["seed"] = static_cast<std::int64_t>(*options.seed);
  return made;
}

}  // namespace library

namespace data {

using library::refuse;

Dataset Dataset::source(const char* op, const Json& arguments) {
  Json plan = Json::array();
  plan.push_back({{"op", op}, {"inputs", Json::array()}, {"args", arguments}});
  library::check_data_plan(plan.dump()).value();
  return {std::move(plan), {}};
}

void Dataset::check_no_functions(const char* called) const {
  if (functions_.empty()) return;
  refuse(std::string(called) +
         "() comes behind map_batches(), whose functions run in the process that asks for batches; allowed: before "
         "map_batches()");
}

Dataset Dataset::then(const char* called, const char* op, const Json& arguments) const {
  check_no_functions(called);
  Json plan = plan_;
  const auto last = static_cast<std::int64_t>(plan.size()) - 1;
  plan.push_back({{"op", op}, {"inputs", Json::array({last})}, {"args", arguments}});
  library::check_data_plan(plan.dump()).value();
  return {std::move(plan), {}};
}

Dataset Dataset::select_columns(const std::vector<std::string>& columns) const {
  Json chosen = Json::array();
  const Json names = library::column_names("columns", columns);
  for (const Json& name : names.as_array()) {
    chosen.push_back(Json::array({name, Json::object({{"column", name}})}));
  }
  return then("select_columns", "project", {{"columns", chosen}, {"keep", false}});
}

Dataset Dataset::drop_columns(const std::vector<std::string>& columns) const {
  return then("drop_columns", "drop", Json::object({{"columns", library::column_names("columns", columns)}}));
}

Dataset Dataset::rename_columns(const std::map<std::string, std::string>& names) const {
  if (!functions_.empty()) return then("rename_columns", "", Json());
  std::vector<std::string> after;
  Json columns = Json::array();
  const std::vector<Field> before = schema();
  for (const auto& [old, name] : names) {
    if (std::ranges::find(before, old, &Field::name) != before.end()) continue;
    std::string there;
    for (const Field& field : before) there += (there.empty() ? "" : ", ") + field.name;
    refuse("names has \"" + old + "\"; allowed: columns of the data set: " + there);
  }
  for (const Field& field : before) {
    const auto found = names.find(field.name);
    after.push_back(found == names.end() ? field.name : found->second);
    columns.push_back(Json::array({after.back(), Json::object({{"column", field.name}})}));
  }
  (void)library::column_names("names", after);
  return then("rename_columns", "project", {{"columns", columns}, {"keep", false}});
}

Dataset Dataset::with_column(const std::string& name, const Expr& value) const {
  const Json names = library::column_names("name", {name});
  const Json column = Json::array({names.at(0), value.json()});
  return then("with_column", "project", {{"columns", Json::array({column})}, {"keep", true}});
}

Dataset Dataset::filter(const Expr& condition) const {
  return then("filter", "filter", Json::object({{"where", condition.json()}}));
}

Dataset Dataset::limit(std::int64_t rows) const {
  if (rows < 0) refuse("rows is " + std::to_string(rows) + "; allowed: 0 or more");
  return then("limit", "limit", Json::object({{"rows", rows}}));
}

Dataset Dataset::random_shuffle(const ShuffleOptions& options) const {
  Json arguments = library::shuffle_arguments("ShuffleOptions.seed", options);
  arguments["kind"] = "exact";
  return then("random_shuffle", "shuffle", arguments);
}

Dataset Dataset::randomize_block_order(const ShuffleOptions& options) const {
  Json arguments = library::shuffle_arguments("ShuffleOptions.seed", options);
  arguments["kind"] = "blocks";
  return then("randomize_block_order", "shuffle", arguments);
}

Dataset Dataset::map_batches(BatchFunction function) const {
  const Result<std::string> name = library::name_of(function);
  Dataset made = *this;
  made.functions_.push_back(name.value());
  return made;
}

std::int64_t Dataset::count() const {
  return Json::parse(library::ask_data("count", plan_.dump()).value()).value()["rows"].as_int();
}

std::vector<Field> Dataset::schema() const {
  const Json layout = Json::parse(library::ask_data("schema", plan_.dump()).value()).value();
  std::vector<Field> fields;
  for (const Json& column : layout.at("columns").as_array()) {
    Field field{column.at("name").as_string(), column.at("type").as_string()};
    for (const Json& length : column.at("shape").as_array()) field.shape.push_back(length.as_int());
    fields.push_back(std::move(field));
  }
  return fields;
}

DataIterator Dataset::iterator() const { return DataIterator(std::make_shared<IteratorState>(*this)); }

Json Dataset::json() const {
  Json functions = Json::array();
  for (const std::string& name : functions_) functions.push_back(name);
  return {{"plan", plan_}, {"functions", functions}};
}

Dataset Dataset::from_json(const Json& json) {
  std::vector<std::string> functions;
  for (const Json& name : json.at("functions").as_array()) functions.push_back(name.as_string());
  return {json.at("plan"), std::move(functions)};
}

}  // namespace data
}  // namespace headway
