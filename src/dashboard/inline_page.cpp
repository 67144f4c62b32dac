#include "dashboard/inline_page.hpp"

#include "core/location.hpp"
#include "dashboard/assets.hpp"
#include "dashboard/experiment_routes.hpp"
#include "dashboard/run_routes.hpp"

#include <algorithm>
#include <array>

namespace headway::dashboard {
namespace {

namespace tune = control::tune;

constexpr std::size_t trials_max = 8;  ///< More curves over one another are not told apart.

constexpr std::size_t name_max = 24;  ///< Of a trial; a longer one has its id instead.

constexpr std::array modules = {"inline", "chart", "chart_marks", "element", "format", "smooth", "theme"};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// JSON within a script element: no text in it ends the element.
std::string within_script(std::string json) {
  replace_all(json, "<", "\\u003c");
  return json;
}

std::string asset(const std::string& path) { return std::string(find_asset(path).value_or("")); }

/// A module as a URL. It has no address, so that others are imported by names of the import map.
std::string module_url(const std::string& name) {
  std::string text = asset("app/" + name + ".js");
  replace_all(text, "from \"./", "from \"headway/");
  replace_all(text, "%", "%25");
  replace_all(text, "#", "%23");
  replace_all(text, "\n", "%0A");
  return "data:text/javascript;charset=utf-8," + text;
}

Json parsed(const Answer& answer) {
  Result<Json> json = parse_json(answer.body, "answer");
  return json && answer.status == 200 ? std::move(*json) : Json(nullptr);
}

/// A line that has a value for each place, not the least and the greatest of many.
JsonObject line_of(const std::string& name, const char* style, Json x, Json values) {
  return {{"name", name},
          {"style", style == nullptr ? Json(nullptr) : Json(style)},
          {"x", std::move(x)},
          {"last", std::move(values)}};
}

JsonObject chart_of(const std::string& title, const char* x, JsonArray lines, JsonArray marks) {
  return {{"title", title}, {"x", x}, {"lines", std::move(lines)}, {"marks", std::move(marks)}};
}

JsonObject charts_of_run(const SeenRun& run, std::size_t charts_max, std::size_t points) {
  RunShelf shelf;
  std::vector<std::string> names =
      shelf.of(run.files)->with([](const RunRecord&, const Series& series) { return series.names(); });
  std::erase_if(names, is_automatic_metric);
  JsonArray charts;
  for (const std::string& name : names) {
    if (charts.size() == charts_max) break;
    const Target target{{}, {{"metric", name}, {"points", std::to_string(points)}}};
    Json json = parsed(answer_series(run, shelf, target));
    if (!json.is_object()) continue;
    JsonObject& series = json.get_object();
    JsonArray marks = std::move(series["marks"].as_array());
    JsonObject line = line_of(name, nullptr, std::move(series["x"]), std::move(series["last"]));
    if (series["min"] != line["last"] || series["max"] != line["last"]) {
      line["min"] = std::move(series["min"]);
      line["max"] = std::move(series["max"]);
    }
    charts.push_back(chart_of(name, "step", JsonArray{std::move(line)}, std::move(marks)));
  }
  const std::size_t left_out = names.size() - std::min(names.size(), charts.size());
  return {{"charts", std::move(charts)}, {"left_out", left_out}};
}

/// The curves of the best trials.
JsonArray best_curves(const ExperimentRecord& record) {
  std::vector<std::size_t> trials;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    if (record.value_of(trial) && record.of(trial).curve.size() > 1) trials.push_back(trial);
  }
  const std::size_t shown = std::min(trials.size(), trials_max);
  const auto better = [&](std::size_t one, std::size_t other) {
    const auto [a, b] = std::pair(*record.value_of(one), *record.value_of(other));
    return record.minimizes() ? a < b : a > b;
  };
  std::ranges::partial_sort(trials, trials.begin() + static_cast<std::ptrdiff_t>(shown), better);
  JsonArray lines;
  for (std::size_t at = 0; at < shown; ++at) {
    JsonArray x;
    JsonArray y;
    for (const auto& [report, value] : record.of(trials[at]).curve) {
      x.emplace_back(report);
      y.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
    const tune::Trial& trial = record.trials()[trials[at]];
    const std::string& name = trial.folder.size() <= name_max ? trial.folder : trial.trial_id;
    lines.push_back(line_of(name, nullptr, std::move(x), std::move(y)));
  }
  return lines;
}

JsonObject charts_of_experiment(const std::string& location) {
  const SeenExperiment seen{name_of(location), std::make_shared<ExperimentFile>(location)};
  Json best = parsed(answer_experiment(seen, {"best"}, {}));
  JsonArray charts;
  const std::string metric = best.is_object() ? std::string(best.at("metric").as_string()) : "";
  if (best.is_object() && !best.at("y").as_array().empty()) {
    JsonArray order;
    for (std::size_t at = 1; at <= best.at("y").as_array().size(); ++at) order.emplace_back(at);
    charts.push_back(chart_of(metric + " of each trial, and the best so far", "trial",
                              {line_of("best so far", "steps", order, std::move(best.at("best"))),
                               line_of("each trial", "dots", order, std::move(best.at("y")))},
                              {}));
  }
  JsonArray lines = seen.file->with([](const ExperimentRecord& record) { return best_curves(record); });
  if (!lines.empty()) {
    const std::string title = metric + (lines.size() < trials_max ? " of the trials" : " of the best trials");
    charts.push_back(chart_of(title, "iteration", std::move(lines), {}));
  }
  return {{"charts", std::move(charts)}, {"left_out", 0}};
}

}  // namespace

Result<std::string> inline_charts(const std::string& location, std::size_t charts_max, std::size_t points) {
  if (has_experiment(location)) return json_text(charts_of_experiment(location));
  const Result<SeenRun> run = run_in(location, name_of(location));
  if (!run) return run.error();
  return json_text(charts_of_run(*run, charts_max, points));
}

std::string inline_page(std::string_view charts) {
  JsonObject imports;
  for (const char* name : modules) imports["headway/" + std::string(name) + ".js"] = module_url(name);
  std::string page = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Headway</title><style>";
  page += asset("vendor/uPlot.min.css") + asset("style.css") + asset("views.css");
  page += "</style><script>" + asset("vendor/uPlot.iife.min.js");
  page +=
      "</script><script type=\"importmap\">" + within_script(json_text(JsonObject{{"imports", std::move(imports)}}));
  page += "</script><script type=\"application/json\" id=\"charts\">" + within_script(std::string(charts));
  page += "</script><script type=\"module\">import \"headway/inline.js\";</script></head>";
  page += "<body class=\"inline\"><div class=\"charts\" id=\"main\"></div></body></html>\n";
  return page;
}

}  // namespace headway::dashboard
