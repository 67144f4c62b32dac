#include "control/status_text.hpp"

#include "control/run_words.hpp"
#include "control/worker_group.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace headway::control {
namespace {

/// Shorter waits are a part of every report.
constexpr double shown_wait_s = 5;

std::string span_of(double seconds) { return span_words(from_seconds(seconds)); }

std::string starting_text(const RunView& view) {
  const auto ready = std::count_if(view.ranks.begin(), view.ranks.end(),
                                   [](const RankView& rank) { return rank.phase != RankPhase::starting; });
  const std::string group = counted(view.workers, "worker");
  const std::string since = " for " + span_of(view.state_for_s);
  if (ready == view.workers) return "setting up " + group + since;
  return "starting " + group + (ready > 0 ? " (" + std::to_string(ready) + " ready)" : "") + ", importing" + since;
}

/// A rank that has not been heard of for longer makes no steps now.
constexpr double pace_shown_s = 5;

std::string per_second(double pace, const char* what) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), pace < 100 ? "%.1f" : "%.0f", pace);
  return std::string(" · ") + text.data() + " " + what + "/s";
}

/// "epoch 3 · 412/938 batches · 25 s left in it".
std::string epoch_text(const LoopView& loop) {
  if (!loop.epoch) return "step " + std::to_string(loop.steps);
  const EpochPosition& at = *loop.epoch;
  std::string text = "epoch " + std::to_string(at.epoch) + " · " + std::to_string(at.batch);
  if (at.batches) text += "/" + std::to_string(*at.batches);
  text += " batches";
  if (loop.epoch_left_s && loop.heard_ago_s < pace_shown_s) text += " · " + span_of(*loop.epoch_left_s) + " left in it";
  return text;
}

std::string left_text(const RunView& view, const RunSpec& spec) {
  if (!spec.stop || !view.reports.last) return "";
  const auto limit = spec.stop->find("training_iteration");
  if (limit == spec.stop->end()) return "";
  const double left = limit->second - static_cast<double>(view.reports.count);
  return left > 0 ? " · " + span_of(left * view.reports.last->time_this_iter_s) + " left" : "";
}

/// What a terminal of 80 columns has no room for stands last.
std::string loop_text(const RunView& view, const RunSpec& spec) {
  const LoopView& loop = *view.loop;
  const bool moves = loop.heard_ago_s < pace_shown_s;
  std::string text = epoch_text(loop);
  if (!moves) text += " · last step " + span_of(loop.heard_ago_s) + " ago";
  if (moves && loop.steps_per_s) text += per_second(*loop.steps_per_s, "steps");
  const ReportsView& reports = view.reports;
  text += reports.count == 0 ? " · no report yet" : " · report " + std::to_string(reports.count);
  if (reports.last_ago_s) text += ", " + span_of(*reports.last_ago_s) + " ago" + left_text(view, spec);
  if (moves && loop.samples_per_s) text += per_second(*loop.samples_per_s, "samples");
  return text;
}

std::string reports_text(const RunView& view, const RunSpec& spec) {
  const ReportsView& reports = view.reports;
  const std::string report = "report " + std::to_string(reports.count);
  if (!reports.last || reports.in_attempt == 0) {
    return "training for " + span_of(view.state_for_s) + (reports.count == 0 ? ", no report yet" : " since " + report);
  }
  return report + " · " + span_of(reports.last->time_this_iter_s) + " each · last " +
         span_of(reports.last_ago_s.value_or(0)) + " ago" + left_text(view, spec);
}

std::string running_text(const RunView& view, const RunSpec& spec) {
  std::string text = view.loop ? loop_text(view, spec) : reports_text(view, spec);
  if (view.wait && view.wait->for_s >= shown_wait_s)
    text += " · " + view.wait->words + " (" + span_of(view.wait->for_s) + ")";
  return text;
}

}  // namespace

std::string status_text(const RunView& view, const RunSpec& spec) {
  const std::string since = " for " + span_of(view.state_for_s);
  switch (view.state) {
    case RunState::created:
    case RunState::preparing: return "preparing storage" + since;
    case RunState::scheduling: return "waiting for capacity for " + counted(view.workers_max, "worker") + since;
    case RunState::starting: return starting_text(view);
    case RunState::running: return running_text(view, spec);
    case RunState::restarting: return "ending attempt " + std::to_string(view.attempt) + " to restart" + since;
    case RunState::shutting_down: return "ending " + counted(view.workers, "worker") + since;
    case RunState::validating: return "validating checkpoints" + since;
    case RunState::closing: return "bringing files to storage" + since;
    case RunState::finished:
    case RunState::failed:
    case RunState::aborted: return to_string(view.state);
  }
  return "";
}

}  // namespace headway::control
