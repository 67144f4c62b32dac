#include "dashboard/experiment_routes.hpp"

#include "core/location.hpp"
#include "dashboard/importances.hpp"
#include "dashboard/json_answer.hpp"
#include "dashboard/trial_places.hpp"
#include "dashboard/trial_query.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace headway::dashboard {
namespace {

namespace tune = control::tune;

constexpr double count_default = 100;
constexpr double count_max = 1000;
constexpr double lines_default = 2000;
constexpr double lines_max = 10'000;
constexpr double curves_default = 200;
constexpr double curves_max = 1000;
constexpr double trials_max = 1e7;
constexpr std::size_t categories_max = 50;
constexpr std::size_t parameters_max = 100;

Json json_of(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell)) return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  if (const auto* text = std::get_if<std::string>(&cell)) return Json(boost::json::string(*text));
  return nullptr;
}

/// What the trials' configurations have under one name.
struct Parameter {
  std::string name;
  std::string kind = "number";
  double min = 0;
  double max = 0;
  std::vector<std::string> values = {};  ///< Of a category.
};

std::string text_of(const Json& value) {
  return value.is_string() ? std::string(value.get_string()) : json_text(value);
}

std::vector<Parameter> parameters_of(const ExperimentRecord& record) {
  struct Seen {
    bool numbers = true;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    std::set<std::string> texts;
  };
  std::map<std::string, Seen> seen;
  std::vector<std::string> order;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    for (const auto& [key, value] : record.of(trial).config) {
      const auto [place, is_new] = seen.try_emplace(std::string(key));
      if (is_new && order.size() < parameters_max) order.emplace_back(key);
      Seen& parameter = place->second;
      if (value.is_number() && std::isfinite(value.to_number<double>())) {
        parameter.min = std::min(parameter.min, value.to_number<double>());
        parameter.max = std::max(parameter.max, value.to_number<double>());
      } else {
        parameter.numbers = false;
      }
      if (parameter.texts.size() < categories_max) parameter.texts.insert(text_of(value));
    }
  }
  std::vector<Parameter> parameters;
  constexpr double wide = 100;
  for (const std::string& name : order) {
    const Seen& found = seen[name];
    Parameter parameter{name};
    if (!found.numbers) {
      parameter.kind = "category";
      parameter.values.assign(found.texts.begin(), found.texts.end());
    } else {
      parameter.min = found.min;
      parameter.max = found.max;
      if (found.min > 0 && found.max / found.min >= wide) parameter.kind = "log";
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Json json_of(const Parameter& parameter) {
  JsonObject object;
  object["name"] = parameter.name;
  object["kind"] = parameter.kind;
  if (parameter.kind == "category") {
    object["values"] = to_json(parameter.values);
  } else {
    object["min"] = parameter.min;
    object["max"] = parameter.max;
  }
  return object;
}

/// Where schedulers that halve look at trials.
JsonArray rungs_of(const tune::ExperimentSpec& spec) {
  JsonArray rungs;
  const auto number = [&](const char* name) {
    const Json* value = spec.scheduler.if_contains(name);
    return value != nullptr && value->is_number() ? value->to_number<double>() : 0.0;
  };
  const double first = number("grace_period");
  const double factor = number("reduction_factor");
  const double last = number("max_t");
  if (first <= 0 || factor <= 1) return rungs;
  double rung = first;
  while (rung <= last) {
    rungs.emplace_back(rung);
    rung *= factor;
  }
  return rungs;
}

std::vector<std::string> metrics_of(const ExperimentRecord& record) {
  std::set<std::string> names;
  for (const tune::Trial& trial : record.trials()) {
    for (const auto& [name, value] : trial.last) names.insert(name);
  }
  return {names.begin(), names.end()};
}

/// Every so manieth trial that has a value, and always the best.
std::vector<std::size_t> sampled(const ExperimentRecord& record, std::size_t most) {
  std::vector<std::size_t> with_value;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    if (record.value_of(trial) || !record.of(trial).curve.empty()) with_value.push_back(trial);
  }
  if (with_value.size() <= most) return with_value;
  std::set<std::size_t> chosen;
  if (const auto best = record.best()) chosen.insert(*best);
  const double step = static_cast<double>(with_value.size()) / static_cast<double>(most);
  for (std::size_t taken = 0; taken < most && chosen.size() < most; ++taken) {
    const auto place = static_cast<std::size_t>(static_cast<double>(taken) * step);
    if (place >= with_value.size()) break;
    chosen.insert(with_value[place]);
  }
  return {chosen.begin(), chosen.end()};
}

Json whole(const SeenExperiment& seen, const ExperimentRecord& record) {
  Json json = to_json(summary_of(seen.id, seen.file->folder(), record, seen.at_work));
  JsonObject& object = json.as_object();
  const tune::ExperimentSpec& spec = record.controller().spec();
  JsonArray parameters;
  for (const Parameter& parameter : parameters_of(record)) parameters.push_back(json_of(parameter));
  object["parameters"] = std::move(parameters);
  object["metrics"] = to_json(metrics_of(record));
  object["rungs"] = rungs_of(spec);
  object["scheduler_config"] = spec.scheduler;
  object["search_over"] = record.controller().search_over();
  return json;
}

Json row_of(const SeenExperiment& seen, const ExperimentRecord& record, std::size_t number) {
  const tune::Trial& trial = record.trials()[number];
  JsonObject row;
  row["id"] = trial.trial_id;
  row["name"] = trial.folder;
  row["state"] = boost::describe::enum_to_string(trial.state, "");
  row["why_ended"] = trial.reason;
  row["config"] = record.of(number).config;
  row["last"] = to_json(trial.last);
  row["iterations"] = trial.reports;
  row["time_total_s"] = json_of(cell_of(record, number, "time_total_s"));
  row["started_unix_s"] = to_json(record.of(number).started_unix_s);
  row["ended_unix_s"] = to_json(record.of(number).ended_unix_s);
  // A trial that has not begun has no folder.
  row["run"] = trial.starts > 0 ? Json(boost::json::string(seen.id + "/" + trial.folder)) : Json(nullptr);
  return row;
}

Answer answer_trials(const SeenExperiment& seen, const ExperimentRecord& record, const Target& target) {
  const Result<double> from = target.number("from", 0, 0, trials_max);
  const Result<double> count = target.number("count", count_default, 0, count_max);
  const Result<TrialFilter> filter = TrialFilter::parse(target.text("filter"));
  if (!from) return answer_of(from.error());
  if (!count) return answer_of(count.error());
  if (!filter) return answer_of(filter.error());
  const std::string& descending = target.text("descending");
  const bool down = !descending.empty() && descending != "0" && descending != "false";
  const std::vector<std::size_t> shown = sorted_trials(record, *filter, target.text("sort"), down);
  JsonArray rows;
  const auto first = std::min(shown.size(), static_cast<std::size_t>(*from));
  const auto last = std::min(shown.size(), first + static_cast<std::size_t>(*count));
  for (std::size_t place = first; place < last; ++place) rows.push_back(row_of(seen, record, shown[place]));
  JsonObject object;
  object["total"] = static_cast<std::int64_t>(shown.size());
  object["rows"] = std::move(rows);
  return json_answer(std::move(object));
}

Answer answer_parallel(const ExperimentRecord& record, const Target& target) {
  const Result<double> most = target.number("max", lines_default, 1, lines_max);
  if (!most) return answer_of(most.error());
  const std::string metric = record.controller().spec().metric.value_or("");
  const std::vector<Parameter> parameters = parameters_of(record);
  JsonArray columns;
  for (const Parameter& parameter : parameters) columns.push_back(json_of(parameter));
  columns.push_back(JsonObject{{"name", metric}, {"kind", "number"}});
  JsonArray ids;
  JsonArray rows;
  for (const std::size_t trial : sampled(record, static_cast<std::size_t>(*most))) {
    const auto value = record.value_of(trial);
    if (!value) continue;
    JsonArray row;
    for (const Parameter& parameter : parameters) {
      const Json* found = record.of(trial).config.if_contains(parameter.name);
      if (found == nullptr || (parameter.kind != "category" && !found->is_number())) {
        row.emplace_back(nullptr);
      } else if (parameter.kind != "category") {
        row.push_back(*found);
      } else {
        const auto place = std::ranges::find(parameter.values, text_of(*found));
        row.push_back(place == parameter.values.end() ? Json(nullptr) : Json(place - parameter.values.begin()));
      }
    }
    row.emplace_back(*value);
    ids.emplace_back(boost::json::string(record.trials()[trial].trial_id));
    rows.push_back(std::move(row));
  }
  JsonObject object;
  object["total"] = static_cast<std::int64_t>(record.trials().size());
  object["metric"] = metric;
  object["mode"] = record.minimizes() ? "min" : "max";
  object["columns"] = std::move(columns);
  object["ids"] = std::move(ids);
  object["rows"] = std::move(rows);
  return json_answer(std::move(object));
}

Answer answer_curves(const ExperimentRecord& record, const Target& target) {
  const Result<double> most = target.number("max", curves_default, 1, curves_max);
  if (!most) return answer_of(most.error());
  JsonArray curves;
  for (const std::size_t number : sampled(record, static_cast<std::size_t>(*most))) {
    const tune::Trial& trial = record.trials()[number];
    JsonArray x;
    JsonArray y;
    for (const auto& [report, value] : record.of(number).curve) {
      x.emplace_back(report);
      y.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
    JsonObject curve;
    curve["id"] = trial.trial_id;
    curve["name"] = trial.folder;
    curve["state"] = boost::describe::enum_to_string(trial.state, "");
    curve["why_ended"] = trial.reason;
    curve["x"] = std::move(x);
    curve["y"] = std::move(y);
    curves.push_back(std::move(curve));
  }
  JsonObject object;
  object["total"] = static_cast<std::int64_t>(record.trials().size());
  object["metric"] = record.controller().spec().metric.value_or("");
  object["mode"] = record.minimizes() ? "min" : "max";
  object["rungs"] = rungs_of(record.controller().spec());
  object["curves"] = std::move(curves);
  return json_answer(std::move(object));
}

/// How the best value has become better as trials ended.
Answer answer_best(const ExperimentRecord& record) {
  struct Ended {
    double at = 0;
    std::size_t trial = 0;
    double value = 0;
  };
  std::vector<Ended> ended;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    const auto value = record.value_of(trial);
    const auto& at = record.of(trial).ended_unix_s;
    if (value && at) ended.push_back({*at, trial, *value});
  }
  std::ranges::sort(ended, {}, &Ended::at);
  JsonArray x;
  JsonArray y;
  JsonArray ids;
  JsonArray best;
  std::optional<double> so_far;
  for (const Ended& each : ended) {
    const bool better = !so_far || (record.minimizes() ? each.value < *so_far : each.value > *so_far);
    if (better) so_far = each.value;
    x.emplace_back(each.at);
    y.emplace_back(each.value);
    ids.emplace_back(boost::json::string(record.trials()[each.trial].trial_id));
    best.emplace_back(*so_far);
  }
  JsonObject object;
  object["metric"] = record.controller().spec().metric.value_or("");
  object["mode"] = record.minimizes() ? "min" : "max";
  object["x"] = std::move(x);
  object["y"] = std::move(y);
  object["ids"] = std::move(ids);
  object["best"] = std::move(best);
  return json_answer(std::move(object));
}

/// Who has taken over from whom: of the trials those that a takeover names.
Answer answer_lineage(const ExperimentRecord& record) {
  std::set<std::int64_t> named;
  JsonArray steps;
  const auto id = [&](std::int64_t trial) {
    return boost::json::string(record.trials()[static_cast<std::size_t>(trial)].trial_id);
  };
  for (const Takeover& takeover : record.takeovers()) {
    named.insert({takeover.trial, takeover.donor});
    JsonArray changed;
    for (const auto& [name, after] : takeover.after) {
      const Json* before = takeover.before.if_contains(name);
      if (before != nullptr && *before == after) continue;
      changed.push_back(
          JsonObject{{"name", name}, {"before", before == nullptr ? Json(nullptr) : *before}, {"after", after}});
    }
    steps.push_back(JsonObject{{"x", takeover.iteration},
                               {"trial", id(takeover.trial)},
                               {"from_trial", id(takeover.donor)},
                               {"from_x", to_json(takeover.from_iteration)},
                               {"changed", std::move(changed)}});
  }
  JsonArray trials;
  for (const std::int64_t number : named) {
    const tune::Trial& trial = record.trials()[static_cast<std::size_t>(number)];
    trials.push_back(JsonObject{{"id", id(number)},
                                {"name", boost::json::string(trial.folder)},
                                {"iterations", trial.reports},
                                {"last", to_json(trial.last)}});
  }
  return json_answer(JsonObject{{"trials", std::move(trials)}, {"steps", std::move(steps)}});
}

Answer answer_places(const ExperimentRecord& record, const Target& target) {
  const Result<double> most = target.number("max", lines_default, 1, lines_max);
  return most ? json_answer(to_json(trial_places(record, static_cast<std::size_t>(*most)))) : answer_of(most.error());
}

}  // namespace

Answer answer_experiment(const SeenExperiment& seen, const std::vector<std::string>& rest, const Target& target) {
  return seen.file->with([&](const ExperimentRecord& record) -> Answer {
    if (rest.empty()) return json_answer(whole(seen, record));
    if (rest.size() == 1) {
      if (rest[0] == "trials") return answer_trials(seen, record, target);
      if (rest[0] == "parallel") return answer_parallel(record, target);
      if (rest[0] == "curves") return answer_curves(record, target);
      if (rest[0] == "best") return answer_best(record);
      if (rest[0] == "lineage") return answer_lineage(record);
      if (rest[0] == "importances") return json_answer(to_json(importances_of(record)));
      if (rest[0] == "places") return answer_places(record, target);
    }
    return answer_of(nothing_here());
  });
}

}  // namespace headway::dashboard
