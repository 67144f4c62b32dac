#include "control/tune/tune_controller.hpp"

/// What a driver takes up of those before it.
namespace headway::control::tune {

void TuneController::on(const DriverBegan& event) {
  settle_earlier(event);
  const bool anew = trials_.empty() || event.spec.scheduler != spec_.scheduler || event.spec.metric != spec_.metric ||
                    event.spec.mode != spec_.mode;
  spec_ = event.spec;
  if (anew) scheduler_ = scheduler_of(spec_).value();
  if (anew) copying_.clear();
  pins_.clear();
  needed_.clear();
  for (std::string& name : scheduler_.needs()) needed_.insert(std::move(name));
  needed_.insert(spec_.needs.begin(), spec_.needs.end());
  if (spec_.metric) needed_.insert(*spec_.metric);
  for (const auto& [name, limit] : spec_.stop.value_or(std::map<std::string, double>{})) needed_.insert(name);
  required_ = needed_;
  for (std::string& name : scheduler_.reads()) needed_.insert(std::move(name));
  waiting_.clear();
  held_.clear();
  returned_.clear();
  paused_.clear();
  promised_.clear();
  choosing_ = none_chosen_ = false;
  questions_.clear();
  starting_ = 0;
  search_over_ = search_waits_ = finished_ = false;
  stop_reason_.reset();
  SideEffects effects;
  for (std::size_t i = 0; i < trials_.size(); ++i) take_up(static_cast<std::int64_t>(i), anew, effects);
  apply(effects);
  std::erase_if(paused_by_front_, [&](std::int64_t number) { return !paused_.contains(number); });
  take_up_copies();
  time_over_ = false;
  budget_end_ = now_ + from_seconds(spec_.time_budget_s.value_or(0));
  if (spec_.time_budget_s) commands_.emplace_back(SetTimer{budget_end_});
}

/// What an earlier driver had decided counts, even where it has died before the trial's processes
/// were gone; so does the end that a trial's run had come to.
void TuneController::settle_earlier(const DriverBegan& event) {
  std::map<std::int64_t, const FoundEnd*> ends;
  if (event.found_ends) {
    for (const FoundEnd& each : *event.found_ends) ends.emplace(each.trial, &each);
  }
  while (!live_.empty()) {
    const auto settled = live_.extract(live_.begin());
    const std::int64_t number = settled.key();
    const Live& here = settled.mapped();
    if (here.ending) {
      end_as_told(number, here);
    } else if (const auto end = ends.find(number); end != ends.end()) {
      if (end->second->state == "errored") {
        this->end(number, TrialState::errored, end->second->words);
      } else {
        complete(number, end->second->words);
      }
    }
  }
}

void TuneController::end_as_told(std::int64_t number, const Live& here) {
  if (here.ending->verdict == Verdict::pause) {
    paused(number, here.ending->reason);
  } else {
    end(number, here.errs ? TrialState::errored : TrialState::terminated, here.ending->reason);
  }
}

/// What becomes of an earlier driver's trial.
void TuneController::take_up(std::int64_t number, bool anew, SideEffects& effects) {
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  const bool again = trial.state == TrialState::errored && spec_.restore.errored;
  if (trial.replaced || (is_over(trial.state) && !again)) return;
  if (anew) {
    scheduler_.added(number);
  } else if (again) {
    scheduler_.added_again(number);
  }
  // What one that was left had waited for does not wait for it any more.
  const bool was_left = trial.left;
  trial.left = !again && !spec_.restore.unfinished;
  if (trial.left) return scheduler_.left(number, effects);
  scheduler_.taken_up(number);
  if (trial.state == TrialState::paused && !anew && !was_left) {
    paused_.insert(number);
  } else {
    trial.state = TrialState::waiting;
    trial.reason.clear();
    waiting_.insert(number);
  }
}

}  // namespace headway::control::tune
