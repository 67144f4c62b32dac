#include "control/tune/tune_controller.hpp"

#include <algorithm>
#include <utility>

/// Which trial starts where there is a place.
namespace headway::control::tune {

/// Where trials share places, which one is next is decided when there is a place.
int TuneController::prepared() const {
  return scheduler_.shares_places() || spec_.chooses ? 0 : spec_.prepares.value_or(0);
}

int TuneController::ahead() const { return std::max(2, prepared()); }

/// Whoever chooses has its choices start in the order in which they were made: of two that start
/// at once, either may be the first to ask for slots.
int TuneController::starting_at_once() const { return spec_.chooses ? 1 : ahead(); }

int TuneController::inside() const { return static_cast<int>(live_.size() - returned_.size()); }

bool TuneController::has_place() const {
  if (stop_reason_ || time_over_ || starting_ >= starting_at_once()) return false;
  return !spec_.max_concurrent || inside() < *spec_.max_concurrent + prepared();
}

bool TuneController::may_run() const {
  return !spec_.max_concurrent || inside() - static_cast<int>(held_.size()) < *spec_.max_concurrent;
}

/// How the trial has ended is known when its processes are gone: the search and the scheduler hear
/// of it then. Whoever chooses among trials for a place hears of the end first.
void TuneController::on(const TrialReturned& event) {
  if (chooses_among_trials(spec_)) return;
  if (live(event.trial) != nullptr) returned_.insert(event.trial);
}

void TuneController::release() {
  while (!held_.empty() && may_run() && !stop_reason_ && !time_over_) {
    commands_.emplace_back(ReleaseTrial{*held_.begin()});
    held_.erase(held_.begin());
  }
}

/// New trials go before paused ones.
std::optional<std::int64_t> TuneController::next_trial() {
  if (scheduler_.shares_places()) return next_in_turn();
  const bool none_to_come = search_over_ || search_waits_;
  if (waiting_.empty() && none_to_come) {
    if (const std::set<std::int64_t> candidates = resumable(); !candidates.empty()) resume(*candidates.begin());
  }
  if (waiting_.empty()) return std::nullopt;
  return waiting_.extract(waiting_.begin()).value();
}

/// Those that pause and need nothing but a place.
std::set<std::int64_t> TuneController::resumable() const {
  std::set<std::int64_t> found;
  for (const std::int64_t number : paused_) {
    const bool waits =
        copying_.contains(number) || !(scheduler_.resumes_where_there_is_room() || paused_by_front_.contains(number));
    if (!waits) found.insert(number);
  }
  return found;
}

void TuneController::fill() {
  while (has_place()) {
    if (spec_.chooses && !(none_chosen_ && live_.empty())) return ask_for_trial();
    const std::optional<std::int64_t> number = next_trial();
    if (!number) return;
    start(*number);
  }
}

void TuneController::start(std::int64_t number) {
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  trial.state = TrialState::starting;
  trial.left = false;
  ++starting_;
  const bool held = !may_run();
  live_[number] = {};
  if (held) held_.insert(number);
  commands_.emplace_back(StartTrial{number, ++trial.starts, trial.starts > 1, trial.copied, held});
}

void TuneController::ask_for_trial() {
  std::set<std::int64_t> candidates = resumable();
  candidates.insert(waiting_.begin(), waiting_.end());
  if (choosing_ || none_chosen_ || candidates.empty()) return;
  choosing_ = true;
  commands_.emplace_back(AskTrial{{candidates.begin(), candidates.end()}});
}

void TuneController::on(const TrialChosen& event) {
  choosing_ = false;
  none_chosen_ = true;
  if (!has_place()) return;
  if (resumable().contains(event.trial)) resume(event.trial);
  if (waiting_.erase(event.trial) == 0) return;
  none_chosen_ = false;
  start(event.trial);
}

/// Whether a place that gets free would be another trial's at once.
bool TuneController::others_wait() const {
  if (!spec_.max_concurrent || may_run()) return false;
  return !waiting_.empty() || !paused_.empty() || !(search_over_ || search_waits_);
}

/// Those that pause wait for a place as new ones do.
std::optional<std::int64_t> TuneController::next_in_turn() {
  std::set<std::int64_t> candidates = waiting_;
  if (search_over_ || search_waits_ || !waiting_.empty()) candidates.merge(resumable());
  if (candidates.empty()) return std::nullopt;
  const std::int64_t number = scheduler_.choose(candidates);
  if (paused_.contains(number)) resume(number);
  waiting_.erase(number);
  return number;
}

}  // namespace headway::control::tune
