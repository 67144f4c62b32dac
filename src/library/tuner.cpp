#include <headway/tune.hpp>

#include "core/splitmix.hpp"
#include "library/experiment_request.hpp"
#include "library/loop_names.hpp"
#include "library/program.hpp"
#include "library/text_check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace headway::tune {
namespace {

Error refused(const std::string& name, const std::string& given, const std::string& allowed) {
  return {ErrorKind::invalid_argument, name + " is " + given + "; allowed: " + allowed};
}

/// The points of all grids.
std::int64_t grid_points(const Space& space) {
  std::int64_t points = 1;
  for (const auto& [name, domain] : space) {
    if (domain.kind() == Domain::Kind::grid) points *= static_cast<std::int64_t>(domain.values().size());
  }
  return points;
}

Result<void> check(const Space& space) {
  std::vector<std::string> names;
  for (const auto& [name, domain] : space) {
    if (auto ok = library::check_text("a name in TunerOptions.space", name); !ok) return ok;
    if (name.empty() || name.front() == '/' || name.back() == '/' || name.find("//") != std::string::npos) {
      return refused("a name in TunerOptions.space", "\"" + name + "\"", "names, with '/' between them");
    }
    for (const std::string& other : names) {
      if (name == other || name.starts_with(other + "/") || other.starts_with(name + "/")) {
        return refused("TunerOptions.space", "one with \"" + other + "\" and \"" + name + "\"",
                       "each name once, and none that is an object of others");
      }
    }
    names.push_back(name);
    if (auto ok = domain.check(name); !ok) return ok;
  }
  return {};
}

Result<void> check(const TuneConfig& config) {
  if (config.mode != "min" && config.mode != "max") {
    return refused("TuneConfig.mode", "\"" + config.mode + "\"", "\"min\" or \"max\"");
  }
  if (config.scheduler && config.metric.empty()) {
    return refused("TuneConfig.metric", "empty with an ASHAScheduler", "the metric by which it compares trials");
  }
  if (config.num_samples < 1) {
    return refused("TuneConfig.num_samples", std::to_string(config.num_samples), "an integer of at least 1");
  }
  return {};
}

/// The value under a name with '/' between its parts.
void put(Json& object, const std::string& name, Json value) {
  Json* place = &object;
  std::size_t begin = 0;
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', begin)) {
    place = &(*place)[name.substr(begin, slash - begin)];
    begin = slash + 1;
  }
  (*place)[name.substr(begin)] = std::move(value);
}

/// One trial's values, in the order of the space: those of grids by its number, the last grid
/// first; the others drawn by seed and number.
std::vector<Json> drawn(const Space& space, std::uint64_t seed, std::int64_t number) {
  std::vector<Json> values(space.size());
  std::int64_t point = number % grid_points(space);
  for (std::size_t i = space.size(); i-- > 0;) {
    const Domain& domain = space[i].second;
    if (domain.kind() != Domain::Kind::grid) continue;
    const auto count = static_cast<std::int64_t>(domain.values().size());
    values[i] = domain.values()[static_cast<std::size_t>(point % count)];
    point /= count;
  }
  SplitMix random{SplitMix{seed}.bits() + static_cast<std::uint64_t>(number)};
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Domain& domain = space[i].second;
    if (domain.kind() != Domain::Kind::grid) values[i] = domain.at(random.uniform());
  }
  return values;
}

Json config_of(const Space& space, std::uint64_t seed, std::int64_t number) {
  Json config = Json::object();
  std::vector<Json> values = drawn(space, seed, number);
  for (std::size_t i = 0; i < space.size(); ++i) put(config, space[i].first, std::move(values[i]));
  return config;
}

std::string short_text(const Json& value) {
  if (!value.is_number() || value.is_integer()) return value.is_string() ? value.as_string() : value.dump();
  std::string text(32, '\0');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.4g", value.as_double())));
  return text;
}

/// "3_lr=0.01,layers=2", of what differs between trials, as part of a folder's name.
std::string tag_of(const Space& space, std::uint64_t seed, std::int64_t number) {
  constexpr std::size_t width = 100;
  std::string tag = std::to_string(number);
  const std::vector<Json> values = drawn(space, seed, number);
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].second.kind() == Domain::Kind::constant) continue;
    tag += (tag.find('=') == std::string::npos ? "_" : ",") + space[i].first + "=" + short_text(values[i]);
  }
  for (char& letter : tag) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                       std::string_view("_=,.+-").find(letter) != std::string_view::npos;
    if (!plain) letter = '_';
  }
  return tag.substr(0, width);
}

std::string scheduler_json(const std::optional<ASHAScheduler>& asha) {
  if (!asha) return R"({"kind": "fifo"})";
  return Json::object({{"kind", "asha"},
                       {"time_attr", asha->time_attr},
                       {"max_t", asha->max_t},
                       {"grace_period", asha->grace_period},
                       {"reduction_factor", asha->reduction_factor},
                       {"brackets", asha->brackets},
                       {"stop_last_trials", asha->stop_last_trials},
                       {"promote", asha->promote}})
      .dump();
}

/// The metric under this name, '/' between nested keys.
const Json* metric_in(const Json& metrics, const std::string& name) {
  if (const Json* whole = metrics.find(name)) return whole;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return nullptr;
  const Json* inner = metrics.find(name.substr(0, slash));
  return inner == nullptr ? nullptr : metric_in(*inner, name.substr(slash + 1));
}

ResultGrid grid_of(library::ExperimentEnd end, const TuneConfig& config) {
  ResultGrid grid{std::move(end.path), {}, config.metric, config.mode};
  for (library::TrialEnd& trial : end.trials) {
    grid.trials.push_back({std::move(trial.trial_id), std::move(trial.path), Json::parse(trial.config_json).value(),
                           Json::parse(trial.last_report_json).value(), std::move(trial.state),
                           std::move(trial.reason)});
  }
  return grid;
}

}  // namespace

Result<ResultGrid> Tuner::fit() {
  if (auto runtime = library::driver_runtime(); !runtime) return runtime.error();
  const Space& space = options_.space;
  const TuneConfig& config = options_.tune;
  if (auto ok = check(space); !ok) return ok.error();
  if (auto ok = check(config); !ok) return ok.error();
  const Result<std::string> name = library::name_of(loop_);
  if (!name) return name.error();
  library::ExperimentRequest request;
  request.trial.loop = *name;
  request.trial.scaling = options_.scaling;
  request.trial.run = options_.run;
  request.metric = config.metric;
  request.mode = config.mode;
  request.scheduler_json = scheduler_json(config.scheduler);
  request.trials = config.num_samples * grid_points(space);
  request.max_concurrent = config.max_concurrent_trials;
  request.time_budget_s = config.time_budget_s;
  request.stop = config.stop;
  request.fail_fast = config.fail_fast;
  request.resume = options_.resume;
  request.seed = config.seed;
  request.config_of = [&](std::int64_t number) { return config_of(space, config.seed, number).dump(); };
  request.tag_of = [&](std::int64_t number) { return tag_of(space, config.seed, number); };
  Result<library::ExperimentEnd> end = library::run_experiment(request);
  if (!end) return end.error();
  return grid_of(std::move(*end), config);
}

int ResultGrid::num_errors() const {
  return static_cast<int>(std::ranges::count(trials, "errored", &TrialResult::state));
}

Result<TrialResult> ResultGrid::get_best_result(const std::string& metric_name, const std::string& wanted) const {
  if (wanted != "max" && wanted != "min") return refused("mode", "\"" + wanted + "\"", "\"max\" or \"min\"");
  const TrialResult* best = nullptr;
  double best_value = 0;
  for (const TrialResult& trial : trials) {
    const Json* value = metric_in(trial.metrics, metric_name);
    if (value == nullptr || !value->is_number() || std::isnan(value->as_double())) continue;
    const double number = value->as_double();
    if (best != nullptr && (wanted == "max" ? number <= best_value : number >= best_value)) continue;
    best = &trial;
    best_value = number;
  }
  if (best != nullptr) return *best;
  return Error{ErrorKind::not_found, "metric is \"" + metric_name + "\", which no trial has reported as a number"};
}

}  // namespace headway::tune
