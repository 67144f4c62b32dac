#include "dashboard/run_summary.hpp"

#include "core/location.hpp"
#include "dashboard/causes.hpp"
#include "dashboard/masking.hpp"
#include "dashboard/restarts.hpp"
#include "dashboard/run_files.hpp"
#include "dashboard/series.hpp"
#include "storage/random_reader.hpp"

namespace headway::dashboard {
namespace {

/// Where the history's middle was left out, no more is said than the verdict does.
std::optional<std::string> restart_in(const std::string& folder, const RunRecord& ends, int attempt) {
  constexpr std::uint64_t reports_max = std::uint64_t{8} << 20;
  if (attempt < 2 || static_cast<int>(ends.attempts().size()) != attempt) return std::nullopt;
  const auto reports = storage::RandomReader::open(join_location(folder, "result.json"));
  if (!reports || reports->size() > reports_max) return restart_words(ends, Series());
  RunFiles files(folder);
  return files.with(restart_words);
}

}  // namespace

RunSummary summary_of(const std::string& id, const std::string& path, const control::RunView& view,
                      const VerdictContext& context, std::optional<std::string> experiment) {
  RunSummary summary;
  summary.id = id;
  summary.name = view.name;
  summary.path = path;
  summary.state = context.driver_lost ? "lost" : control::to_string(view.state);
  summary.verdict = verdict_of(view, context);
  summary.attempt = view.attempt;
  summary.workers = view.workers;
  summary.reports = view.reports.count;
  if (view.taken_unix_s > 0) summary.started_unix_s = view.taken_unix_s - view.time_total_s;
  summary.time_total_s = view.time_total_s;
  if (view.reports.last) summary.last = short_metrics(view.reports.last->metrics);
  summary.experiment = std::move(experiment);
  return summary;
}

void add_history(RunSummary& summary, const std::string& folder, const control::RunView& view, VerdictContext context) {
  if (!control::is_over(view.state)) return;
  const RunRecord record = history_ends_in(folder);
  context.data = data_times_in(folder);
  if (std::optional<Cause> cause = first_cause(view, record, context)) {
    summary.cause = std::move(cause->words);
    summary.cause_since_unix_s = cause->since_unix_s;
  }
  if (!is_remote(folder)) summary.restart = restart_in(folder, record, view.attempt);
  if (summary.workers == 0 && !record.attempts().empty()) summary.workers = record.attempts().back().workers;
}

JsonObject user_metrics(const JsonObject& line) {
  JsonObject metrics;
  for (const auto& [name, value] : line) {
    if (!is_automatic_metric(name)) metrics[name] = value;
  }
  return metrics;
}

JsonObject short_metrics(const JsonObject& metrics) {
  constexpr std::size_t shown_max = 32;
  constexpr std::size_t text_max = 200;
  JsonObject shown;
  for (const auto& [name, value] : metrics) {
    if (shown.size() == shown_max) break;
    const bool is_short =
        value.is_number() || value.is_bool() || (value.is_string() && value.as_string().size() <= text_max);
    if (is_short) shown[name] = value;
  }
  return shown;
}

std::shared_ptr<const Part> part_of(const RunSummary& summary) {
  Json json = to_json(summary);
  mask_secrets(json);
  return std::make_shared<const Part>(Part{summary.id, json_text(json)});
}

}  // namespace headway::dashboard
