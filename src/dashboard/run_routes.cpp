#include "dashboard/run_routes.hpp"

#include "core/location.hpp"
#include "dashboard/causes.hpp"
#include "dashboard/json_answer.hpp"
#include "dashboard/log_view.hpp"
#include "dashboard/masking.hpp"
#include "dashboard/restarts.hpp"
#include "dashboard/run_summary.hpp"
#include "dashboard/step_map.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <map>

namespace headway::dashboard {
namespace {

constexpr double points_default = 800;
constexpr double points_max = 5000;
constexpr double cells_default = 400;
constexpr double cells_max = 2000;
constexpr double rank_max = 1e6;

JsonArray ingest_of(const control::DataTimes& times) {
  JsonArray stages;
  for (const auto& [name, dataset] : times.datasets) {
    for (const StageCounters& stage : dataset.stages) {
      JsonObject row;
      row["dataset"] = name;
      row["name"] = stage.name;
      row["rows"] = stage.rows;
      row["bytes"] = stage.bytes;
      row["seconds"] = stage.busy_s;
      row["waited_s"] = stage.waiting_input_s;
      row["blocked_s"] = stage.waiting_output_s;
      row["memory_wait_s"] = stage.waiting_memory_s;
      row["memory_bytes"] = stage.held_bytes;
      row["budget_bytes"] = to_json(dataset.budget_bytes);
      row["workers"] = stage.workers;
      stages.push_back(std::move(row));
    }
  }
  return stages;
}

/// The memory of the data processes, by data set.
JsonArray budgets_of(const control::DataTimes& times) {
  JsonArray budgets;
  for (const auto& [name, dataset] : times.datasets) {
    if (!dataset.budget_bytes) continue;
    budgets.push_back(JsonObject{{"dataset", name},
                                 {"budget_bytes", *dataset.budget_bytes},
                                 {"held_bytes", to_json(dataset.held_bytes)},
                                 {"held_bytes_max", to_json(dataset.held_bytes_max)}});
  }
  return budgets;
}

/// All that were stored, and those of whose storing nothing is known, as an older version's.
JsonArray checkpoints_of(const RunRecord& record, const control::RunView& view,
                         const storage::VerifiedNotes& verified) {
  std::map<std::string, const control::KeptCheckpoint*> kept;
  if (view.checkpoints) {
    for (const control::KeptCheckpoint& checkpoint : *view.checkpoints) kept[checkpoint.name] = &checkpoint;
  }
  JsonArray list;
  const auto add = [&](CheckpointRecord checkpoint, const control::KeptCheckpoint* known) {
    if (known != nullptr) checkpoint.metrics = known->metrics;
    const auto read = verified.find(checkpoint.name);
    if (read != verified.end() && read->second.at_unix_s >= checkpoint.committed_unix_s.value_or(0)) {
      checkpoint.verified = read->second;
    }
    list.push_back(to_json(checkpoint));
  };
  for (const CheckpointRecord& checkpoint : record.checkpoints()) {
    const auto known = kept.find(checkpoint.name);
    add(checkpoint, known != kept.end() && checkpoint.kept ? known->second : nullptr);
    if (known != kept.end() && checkpoint.kept) kept.erase(known);
  }
  for (const auto& [name, known] : kept) {
    CheckpointRecord checkpoint;
    checkpoint.name = name;
    checkpoint.report = known->report ? *known->report + 1 : 0;
    add(std::move(checkpoint), known);
  }
  return list;
}

Json last_error_of(const control::RunView& view) {
  if (!view.failure) return nullptr;
  for (const control::RankFailure& rank : view.failure->ranks) {
    JsonObject error;
    error["rank"] = rank.rank;
    error["attempt"] = rank.attempt ? Json(*rank.attempt) : Json(nullptr);
    error["text"] = rank.exception ? rank.exception->traceback : rank.last_lines.value_or(rank.text);
    return error;
  }
  return nullptr;
}

Json config_in(const std::string& folder) {
  const Result<std::string> text = storage::read_file(join_location(folder, "params.json"));
  if (!text) return nullptr;
  Result<Json> config = parse_json(*text, "params.json");
  return config ? *config : Json(nullptr);
}

Json whole(const SeenRun& run, RunShelf& shelf) {
  const control::RunView& view = *run.view;
  VerdictContext context = run.context;
  context.data = data_times_in(run.files);
  context.place = place_of_awaited(*shelf.of(run.files), view);
  if (straggler_of(view)) {
    shelf.of(run.files)->with(
        [&](const RunRecord& record, const Series&) { context.straggler = straggler_now(view, record); });
  }
  Json json = to_json(summary_of(run.id, run.path, view, context, run.experiment));
  JsonObject& object = json.as_object();
  object["view"] = to_json(view);
  object["failure"] = view.failure ? to_json(*view.failure) : Json(nullptr);
  object["last_error"] = last_error_of(view);
  object["config"] = config_in(run.files);
  object["data"] = context.data ? to_json(context.data->verdict) : Json(nullptr);
  object["budgets"] = context.data ? budgets_of(*context.data) : JsonArray();
  object["ingest"] = context.data ? ingest_of(*context.data) : JsonArray();
  // They are in the folder, not on its local side. While a run is at work nobody waits for remote
  // storage here.
  const storage::VerifiedNotes verified = storage::verified_in(is_remote(run.location) ? run.files : run.location);
  object["logs"] = is_remote(run.files) ? JsonArray() : to_json(log_files(run.files));
  shelf.of(run.files)->with([&](const RunRecord& record, const Series& series) {
    object["restart"] = to_json(restart_words(record, series));
    object["attempts"] = to_json(record.attempts());
    object["checkpoints"] = checkpoints_of(record, view, verified);
    object["stacks"] = to_json(record.stacks());
    object["warnings"] = to_json(record.warnings());
    object["causes"] = to_json(causes_of(view, record, context));
    if (!record.attempts().empty()) object["started_unix_s"] = record.attempts().front().start_s;
    if (view.workers == 0 && !record.attempts().empty()) object["workers"] = record.attempts().back().workers;
  });
  mask_secrets(json);
  return json;
}

Answer answer_steps(const SeenRun& run, RunShelf& shelf, const Target& target) {
  const Result<double> points = target.number("points", cells_default, 1, cells_max);
  if (!points) return answer_of(points.error());
  return shelf.of(run.files)->with([&](const RunRecord& record, const Series&) {
    StepMap map = step_map(record, static_cast<std::size_t>(*points));
    map.straggler = straggler_now(*run.view, record);
    return json_answer(to_json(map));
  });
}

Answer answer_logs(const SeenRun& run, const Target& target) {
  const Result<double> rank = target.number("rank", 0, 0, rank_max);
  if (!rank) return answer_of(rank.error());
  const std::string number = std::to_string(static_cast<int>(*rank));
  std::string name = "rank_" + number + ".log";
  if (!is_remote(run.files)) {
    const std::vector<LogFile> files = log_files(run.files);
    const std::string& wanted = target.text("name");
    const auto found = std::ranges::find_if(files, [&](const LogFile& file) {
      return file.rank == static_cast<int>(*rank) && (wanted.empty() || file.name == wanted);
    });
    if (found == files.end()) return answer_of(Error{ErrorKind::not_found, "rank " + number + " has no log"});
    name = found->name;
  }
  const Result<LogPiece> piece = log_piece(join_location(join_location(run.files, "logs"), name), target);
  return piece ? json_answer(to_json(*piece)) : answer_of(piece.error());
}

std::string words_of(const JsonObject& metrics) {
  std::string words;
  for (const auto& [name, value] : metrics) {
    words += (words.empty() ? "" : ", ") + std::string(name) + "=" + json_text(value);
  }
  return words;
}

/// Where something happened. Over steps that is the report with it, as far as the reports' lines
/// tell: the clock of a line is coarse, and many reports may have one second.
JsonArray marks_of(const RunRecord& record, const Series& series, Axis axis) {
  JsonArray marks;
  const auto add = [&](std::optional<double> step, double at, const char* kind, const std::string& words) {
    std::optional<double> x = at;
    if (axis == Axis::step) x = step ? step : series.step_at(at);
    if (!x) return;
    JsonObject mark;
    mark["x"] = *x;
    mark["kind"] = kind;
    mark["words"] = words.substr(0, words.find('\n'));
    marks.push_back(std::move(mark));
  };
  for (const AttemptRecord& attempt : record.attempts()) {
    if (attempt.number > 1) {
      add(series.last_step_of(attempt.number - 1), attempt.start_s, "restart",
          "attempt " + std::to_string(attempt.number) + " begins");
    }
    if (attempt.end_s && attempt.end_words != "finished") {
      add(series.last_step_of(attempt.number), *attempt.end_s, "failure", attempt.end_words);
    }
  }
  for (const CheckpointRecord& checkpoint : record.checkpoints()) {
    if (!checkpoint.committed_unix_s) continue;
    add(series.step_of_checkpoint(checkpoint.name), *checkpoint.committed_unix_s, "checkpoint", checkpoint.name);
  }
  for (const ValidationRecord& validation : record.validations()) {
    const std::string words = validation.error
                                  ? "validation of " + validation.checkpoint + " failed: " + *validation.error
                                  : validation.checkpoint + " is validated: " + words_of(validation.metrics);
    add(series.step_of_checkpoint(validation.checkpoint), validation.at_unix_s, "validation", words);
  }
  return marks;
}

}  // namespace

Answer answer_run(const SeenRun& run, RunShelf& shelf, const std::vector<std::string>& rest, const Target& target) {
  if (rest.empty()) return json_answer(whole(run, shelf));
  if (rest.size() > 1) return answer_of(nothing_here());
  if (rest[0] == "metrics") {
    return shelf.of(run.files)->with([](const RunRecord&, const Series& series) {
      JsonObject object;
      object["names"] = to_json(series.names());
      object["x"] = JsonArray{"step", "time"};
      object["reports"] = static_cast<std::int64_t>(series.reports());
      return json_answer(std::move(object));
    });
  }
  if (rest[0] == "steps") return answer_steps(run, shelf, target);
  if (rest[0] == "logs") return answer_logs(run, target);
  return answer_of(nothing_here());
}

Answer answer_series(const SeenRun& run, RunShelf& shelf, const Target& target) {
  const Result<double> points = target.number("points", points_default, 1, points_max);
  const auto from = target.optional_number("from");
  const auto to = target.optional_number("to");
  if (!points) return answer_of(points.error());
  for (const auto* given : {&from, &to}) {
    if (!*given) return answer_of(given->error());
  }
  const std::string& over = target.text("x");
  if (!over.empty() && over != "step" && over != "time") {
    return answer_of(Error{ErrorKind::invalid_argument, "x is '" + over + "'; allowed: step or time"});
  }
  const Axis axis = over == "time" ? Axis::time : Axis::step;
  const std::string& metric = target.text("metric");
  return shelf.of(run.files)->with([&](const RunRecord& record, const Series& series) {
    const auto buckets = series.buckets(metric, axis, *from, *to, static_cast<std::size_t>(*points));
    if (!buckets) return answer_of(Error{ErrorKind::not_found, "the run has reported no number as " + metric});
    JsonObject object = json_of(*buckets);
    object["marks"] = marks_of(record, series, axis);
    return json_answer(std::move(object));
  });
}

}  // namespace headway::dashboard
