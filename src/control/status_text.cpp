#include "control/status_text.hpp"

#include "control/run_words.hpp"
#include "control/worker_group.hpp"

#include <algorithm>

namespace headway::control {
namespace {

/// Shorter waits are a part of every report.
constexpr double shown_wait_s = 5;

std::string span_of(double seconds) { return span_words(from_seconds(seconds)); }

std::string starting_text(const RunView& view) {
  const auto ready = std::count_if(view.ranks.begin(), view.ranks.end(),
                                   [](const RankView& rank) { return rank.phase != RankPhase::starting; });
  const std::string group = workers_text(view.workers);
  const std::string since = " for " + span_of(view.state_for_s);
  if (ready == view.workers) return "setting up " + group + since;
  return "starting " + group + (ready > 0 ? " (" + std::to_string(ready) + " ready)" : "") + ", importing" + since;
}

std::string left_text(const RunView& view, const RunSpec& spec, double each_s) {
  if (!spec.stop) return "";
  const auto limit = spec.stop->find("training_iteration");
  if (limit == spec.stop->end()) return "";
  const double left = limit->second - static_cast<double>(view.reports.count);
  return left > 0 ? " · " + span_of(left * each_s) + " left" : "";
}

std::string running_text(const RunView& view, const RunSpec& spec) {
  const ReportsView& reports = view.reports;
  std::string text = "report " + std::to_string(reports.count);
  if (!reports.last || reports.in_attempt == 0) {
    text = "training for " + span_of(view.state_for_s) + (reports.count == 0 ? ", no report yet" : " since " + text);
  } else {
    const double each_s = reports.last->time_this_iter_s;
    text += " · " + span_of(each_s) + " each · last " + span_of(reports.last_ago_s.value_or(0)) + " ago" +
            left_text(view, spec, each_s);
  }
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
    case RunState::scheduling: return "waiting for capacity for " + workers_text(view.workers_max) + since;
    case RunState::starting: return starting_text(view);
    case RunState::running: return running_text(view, spec);
    case RunState::restarting: return "ending attempt " + std::to_string(view.attempt) + " to restart" + since;
    case RunState::shutting_down: return "ending " + workers_text(view.workers) + since;
    case RunState::validating: return "validating checkpoints" + since;
    case RunState::closing: return "bringing files to storage" + since;
    case RunState::over: return "ended";
  }
  return "";
}

}  // namespace headway::control
