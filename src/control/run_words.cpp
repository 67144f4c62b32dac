#include "control/run_words.hpp"

#include "control/worker_group.hpp"
#include "core/counted.hpp"
#include "core/location.hpp"
#include "core/score.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <set>

namespace headway::control {
namespace {

std::string folder_of(const RunSpec& spec) { return join_location(spec.run.storage_path, spec.run.name); }

std::string devices(const std::vector<WorkerPlan>& plans) {
  std::set<std::string> nodes;
  std::set<std::pair<std::string, std::string>> gpus;
  for (const WorkerPlan& plan : plans) {
    nodes.insert(plan.slot.hostname);
    for (const std::string& id : plan.slot.gpu_ids) gpus.emplace(plan.slot.node_id, id);
  }
  const std::string what = gpus.empty() ? "CPUs" : counted(gpus.size(), "GPU");
  if (nodes.size() == 1) return what + " of " + *nodes.begin();
  return what + " of " + std::to_string(nodes.size()) + " nodes";
}

/// The best checkpoint by the run's score, the newest where there is no score.
std::string checkpoint_words(const RunSpec& spec, const CheckpointBook& book) {
  if (book.kept().empty()) return "no checkpoint; results: " + shown_location(folder_of(spec));
  const auto& score = spec.checkpoint.checkpoint_score_attribute;
  const KeptCheckpoint* shown = &book.kept().back();
  std::string kind = "newest";
  std::string value;
  if (score) {
    std::vector<JsonObject> metrics;
    for (const KeptCheckpoint& each : book.kept()) metrics.push_back(each.metrics);
    if (const auto best = best_of(metrics, *score, spec.checkpoint.checkpoint_score_order)) {
      shown = &book.kept().at(*best);
      kind = "best";
      std::array<char, 32> number{};
      std::snprintf(number.data(), number.size(), "%.4g", *score_of(shown->metrics, *score, "max"));
      value = " (" + *score + " " + number.data() + ")";
    }
  }
  return kind + " checkpoint: " + shown_location(join_location(folder_of(spec), shown->name)) + value;
}

/// Earlier runs of the script have made the others.
std::string new_words(const EndWords& end) {
  if (end.new_reports == end.reports) return "";
  return " (" + (end.new_reports == 0 ? "none" : std::to_string(end.new_reports)) + " new)";
}

}  // namespace

std::string begin_words(const RunSpec& spec, const std::vector<WorkerPlan>& plans) {
  const std::string results = "; results: " + shown_location(folder_of(spec));
  if (spec.scaling.num_workers > 0) return counted(plans.size(), "worker") + " on " + devices(plans) + results;
  return (plans.size() == 1 ? "trains in this process" : std::to_string(plans.size()) + " ranks of torchrun") + results;
}

std::string end_words(const RunSpec& spec, const CheckpointBook& book, const EndWords& end) {
  const std::string state = end.state == "errored" ? "failed" : end.state;
  const std::string how = end.state == "finished" ? " in " : " after ";
  return state + how + span_words(end.took) + ": " + counted(end.reports, "report") + new_words(end) +
         (end.restarts > 0 ? ", " + counted(end.restarts, "restart") : "") + (end.data.empty() ? "" : "; " + end.data) +
         "; " + checkpoint_words(spec, book);
}

std::string span_words(Duration span) {
  const double seconds = to_seconds(span);
  std::array<char, 48> text{};
  if (seconds < 10) {
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
    return text.data();
  }
  const auto whole = std::llround(seconds);
  if (whole < 120) {
    std::snprintf(text.data(), text.size(), "%lld s", whole);
  } else if (whole < 7200) {
    std::snprintf(text.data(), text.size(), "%lld min %lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld h %lld min", whole / 3600, whole % 3600 / 60);
  }
  return text.data();
}

}  // namespace headway::control
