#include <headway/data/dataset.hpp>

#include "library/data_client.hpp"
#include "library/plan_arguments.hpp"
#include "library/text_check.hpp"

#include <set>

namespace headway::data {

struct Aggregates {
  static Aggregate of(const char* function, const std::string& column, Json options = Json::object(),
                      bool ignore_nulls = true) {
    if (column.empty()) {
      library::refuse(std::string("column of aggregate::") + function + " is \"\"; allowed: a column's name");
    }
    library::check_text("column", column).value();
    return {function, column, ignore_nulls, std::move(options)};
  }
  static Aggregate of_rows() { return {"count", nullptr, false, Json::object()}; }
};

namespace {

using library::refuse;

const char* join_text(JoinType type) {
  switch (type) {
    case JoinType::inner: return "inner";
    case JoinType::left_outer: return "left_outer";
    case JoinType::right_outer: return "right_outer";
    case JoinType::full_outer: return "full_outer";
    case JoinType::left_semi: return "left_semi";
    case JoinType::right_semi: return "right_semi";
    case JoinType::left_anti: return "left_anti";
    case JoinType::right_anti: return "right_anti";
  }
  refuse("type is no JoinType");
}

/// A plan's nodes behind others.
void append_nodes(Json& plan, const Json& nodes) {
  const auto first = static_cast<std::int64_t>(plan.size());
  for (const Json& each : nodes.as_array()) {
    Json node = each;
    Json inputs = Json::array();
    for (const Json& input : each.at("inputs").as_array()) inputs.push_back(input.as_int() + first);
    node["inputs"] = inputs;
    plan.push_back(std::move(node));
  }
}

}  // namespace

Aggregate::Aggregate(const char* function, Json on, bool ignore_nulls, Json options)
    : function_(function),
      on_(std::move(on)),
      name_(function_ + "(" + (on_.is_null() ? "" : on_.as_string()) + ")"),
      ignore_nulls_(ignore_nulls),
      options_(std::move(options)) {}

Aggregate Aggregate::as(const std::string& name) const {
  library::check_text("name", name).value();
  if (name.empty()) refuse("name is \"\"; allowed: a column's name");
  Aggregate named = *this;
  named.name_ = name;
  return named;
}

Aggregate Aggregate::ignore_nulls(bool ignored) const {
  Aggregate made = *this;
  made.ignore_nulls_ = ignored;
  return made;
}

Json Aggregate::json() const {
  Json made = {{"function", function_}, {"on", on_}, {"name", name_}, {"ignore_nulls", ignore_nulls_}};
  for (const auto& [name, value] : options_.as_object()) made[name] = value;
  return made;
}

namespace aggregate {

Aggregate count() { return Aggregates::of_rows(); }
Aggregate count(const std::string& column) { return Aggregates::of("count", column, Json::object(), false); }
Aggregate count_distinct(const std::string& column) { return Aggregates::of("count_distinct", column); }
Aggregate sum(const std::string& column) { return Aggregates::of("sum", column); }
Aggregate min(const std::string& column) { return Aggregates::of("min", column); }
Aggregate max(const std::string& column) { return Aggregates::of("max", column); }
Aggregate mean(const std::string& column) { return Aggregates::of("mean", column); }

Aggregate standard_deviation(const std::string& column, std::int64_t ddof) {
  if (ddof < 0) refuse("ddof is " + std::to_string(ddof) + "; allowed: 0 or more");
  return Aggregates::of("std", column, Json::object({{"ddof", ddof}}));
}

Aggregate abs_max(const std::string& column) { return Aggregates::of("abs_max", column); }

Aggregate quantile(const std::string& column, double q) {
  const bool is_part = q >= 0 && q <= 1;  // NaN is none.
  if (!is_part) refuse("q is " + std::to_string(q) + "; allowed: a number from 0 to 1");
  return Aggregates::of("quantile", column, Json::object({{"q", q}}));
}

Aggregate unique(const std::string& column) { return Aggregates::of("unique", column); }
Aggregate as_list(const std::string& column) { return Aggregates::of("as_list", column); }

}  // namespace aggregate

Dataset Dataset::combined(const char* called, const std::vector<Dataset>& others, const char* op,
                          const Json& arguments) const {
  check_no_functions(called);
  Json plan = plan_;
  Json inputs = Json::array({static_cast<std::int64_t>(plan.size()) - 1});
  for (const Dataset& other : others) {
    other.check_no_functions(called);
    append_nodes(plan, other.plan_);
    inputs.push_back(static_cast<std::int64_t>(plan.size()) - 1);
  }
  plan.push_back({{"op", op}, {"inputs", inputs}, {"args", arguments}});
  library::check_data_plan(plan.dump()).value();
  return {std::move(plan), {}};
}

Dataset Dataset::union_(const std::vector<Dataset>& others) const {
  if (others.empty()) return *this;
  return combined("union_", others, "union", Json::object());
}

Dataset Dataset::sort(const std::vector<std::string>& keys, const std::vector<bool>& descending) const {
  const Json names = library::column_names("keys", keys);
  if (!descending.empty() && descending.size() != keys.size()) {
    refuse("descending has " + std::to_string(descending.size()) + " values; allowed: none, or one for each of " +
           std::to_string(keys.size()) + " columns");
  }
  Json downward = Json::array();
  for (std::size_t key = 0; key < keys.size(); ++key) downward.push_back(!descending.empty() && descending[key]);
  const Json options = {{"keys", names}, {"descending", downward}};
  return then("sort", "whole", {{"operation", "sort"}, {"options", options}});
}

GroupedData Dataset::groupby(const std::vector<std::string>& keys) const {
  check_no_functions("groupby");
  if (!keys.empty()) (void)library::column_names("keys", keys);
  return {*this, keys};
}

Dataset Dataset::aggregate(const std::vector<Aggregate>& values) const { return groupby({}).aggregate(values); }

Dataset GroupedData::aggregate(const std::vector<Aggregate>& values) const {
  if (values.empty()) refuse("values is empty; allowed: at least one, such as aggregate::mean(\"price\")");
  std::set<std::string> names(keys_.begin(), keys_.end());
  Json keys = Json::array();
  for (const std::string& key : keys_) keys.push_back(key);
  Json aggregates = Json::array();
  for (const Aggregate& each : values) {
    if (!names.insert(each.name()).second) {
      refuse("values has the name \"" + each.name() +
             "\" twice, or it is a key's; allowed: a name once, such as as(\"" + each.name() + " 2\") gives");
    }
    aggregates.push_back(each.json());
  }
  const Json options = {{"keys", keys}, {"aggregates", aggregates}};
  return of_.then("aggregate", "whole", {{"operation", "aggregate"}, {"options", options}});
}

Dataset Dataset::join(const Dataset& right, JoinType type, const JoinOptions& options) const {
  const Json on = library::column_names("JoinOptions.on", options.on);
  const Json right_on = options.right_on.empty() ? on : library::column_names("JoinOptions.right_on", options.right_on);
  if (right_on.size() != on.size()) {
    refuse("JoinOptions.right_on has " + std::to_string(right_on.size()) +
           " columns; allowed: none, or as many as on, " + "which has " + std::to_string(on.size()));
  }
  library::check_text("JoinOptions.left_suffix", options.left_suffix).value();
  library::check_text("JoinOptions.right_suffix", options.right_suffix).value();
  const Json made = {{"type", join_text(type)},
                     {"on", on},
                     {"right_on", right_on},
                     {"left_suffix", options.left_suffix},
                     {"right_suffix", options.right_suffix}};
  return combined("join", {right}, "whole", {{"operation", "join"}, {"options", made}});
}

}  // namespace headway::data
