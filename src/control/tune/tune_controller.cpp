#include "control/tune/tune_controller.hpp"

#include "control/tune/decision_words.hpp"
#include "core/config.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace headway::control::tune {
namespace {

/// The journal's times are rounded.
constexpr Duration rounding = std::chrono::milliseconds(1);
/// Trials that the search has suggested, beyond those that are starting.
constexpr int suggested_ahead = 2;

}  // namespace

TuneCommands TuneController::handle(Time now, const TuneEvent& event) {
  now_ = now;
  commands_.clear();
  if (finished_ && !std::holds_alternative<DriverBegan>(event)) return {};
  // Whatever else has happened, the front end may choose otherwise than before.
  none_chosen_ = none_chosen_ && std::holds_alternative<TrialReady>(event);
  std::visit([this](const auto& what) { on(what); }, event);
  release();
  fill();
  ask_for_more();
  finish_when_done();
  std::ranges::move(questions_of_copies_, std::back_inserter(commands_));
  questions_of_copies_.clear();
  if (scheduler_.shares_places()) tell_pins();
  return std::exchange(commands_, {});
}

void TuneController::forget_ended(std::int64_t number) {
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  if (!is_over(trial.state)) return;
  trial.last.clear();
  trial.reason = std::string();
  if (scheduler_.shares_places()) return;
  for (std::string* text : {&trial.config, &trial.folder, &trial.tag}) *text = std::string();
}

void TuneController::on(const TrialSuggested& event) {
  if (!questions_.empty() && --questions_.front().open == 0) questions_.pop_front();
  const auto number = static_cast<std::int64_t>(trials_.size());
  Trial& trial = trials_.emplace_back();
  trial.trial_id = event.trial_id;
  trial.config = event.config;
  trial.folder = event.folder;
  if (event.replaces && *event.replaces >= 0 && *event.replaces < number) {
    trials_[static_cast<std::size_t>(*event.replaces)].replaced = true;
  }
  trial.tag = event.tag.value_or("");
  waiting_.insert(number);
  scheduler_.added(number);
}

/// Where a trial has ended since the question, the search hears of that before the next one.
void TuneController::on(const NothingSuggested&) {
  const bool knows_all = questions_.empty() || !questions_.front().ended_since;
  if (!questions_.empty()) questions_.pop_front();
  if (knows_all) search_waits_ = true;
}

void TuneController::on(const SearchOver&) {
  questions_.clear();
  search_over_ = true;
}

Trial* TuneController::live(std::int64_t number) {
  return live_.contains(number) ? &trials_[static_cast<std::size_t>(number)] : nullptr;
}

void TuneController::on(const TrialReady& event) {
  Trial* trial = live(event.trial);
  if (trial == nullptr || trial->state != TrialState::starting) return;
  trial->state = TrialState::running;
  trial->copied = false;
  --starting_;
}

void TuneController::on(const TrialReported& event) {
  Trial* trial = live(event.trial);
  if (trial == nullptr) return;
  trial->reports = event.number;
  trial->last = event.numbers;
  if (event.checkpoint) trial->checkpoint = event.checkpoint;
  search_waits_ = false;
  Live& here = live_.at(event.trial);
  if (here.ending) {  // Its processes are being ended.
    commands_.emplace_back(AnswerTrial{event.trial, event.number, *here.ending});
    return;
  }
  if (spec_.overrules) {
    auto [decision, is_final] = judge(event);
    if (is_final) return answer(event.trial, event.number, std::move(decision));
    here.asked = event.number;
    here.proposed = std::move(decision);
    commands_.emplace_back(AskVerdict{event.trial, event.number, here.proposed});
    return;
  }
  if (spec_.asks && !time_over_ && !missing(event) && !stop_reached(event)) {
    here.asked = event.number;
    here.others_wait = event.others_wait;
    commands_.emplace_back(AskVerdict{event.trial, event.number});
    return;
  }
  answer(event.trial, event.number, judge(event).decision);
}

/// A report that lacks what is needed is an error of its trial.
std::optional<Decision> TuneController::missing(const TrialReported& event) const {
  if (!spec_.strict || !event.there) return std::nullopt;
  for (const std::string& name : required_) {
    if (event.numbers.contains(name)) continue;
    return Decision{Verdict::stop, "report " + std::to_string(event.number) + " has no number \"" + name +
                                       "\", which the scheduler, the search or a stop rule needs; it has " +
                                       (event.there->empty() ? "no metrics" : *event.there) +
                                       ", and the automatic ones"};
  }
  return std::nullopt;
}

std::optional<std::string> TuneController::stop_reached(const TrialReported& event) const {
  if (!spec_.stop) return std::nullopt;
  for (const auto& [name, limit] : *spec_.stop) {
    const auto value = event.numbers.find(name);
    if (value == event.numbers.end() || !(value->second >= limit)) continue;
    return name + " is " + number_text(value->second) + " (RunConfig.stop: " + number_text(limit) + ")";
  }
  return std::nullopt;
}

/// Stop rules come first, as in Ray, and the front end's among them: the scheduler hears of such a
/// trial as of one that has ended by itself.
TuneController::Judgement TuneController::judge(const TrialReported& event, std::optional<std::string> reached) {
  if (auto lacking = missing(event)) {
    live_.at(event.trial).errs = true;
    return {std::move(*lacking), true};
  }
  std::optional<Progress> progress = scheduler_.progress(event.trial, event.numbers);
  if (!reached) reached = stop_reached(event);
  if (!reached && time_over_) reached = budget_words();
  SideEffects effects;
  Decision decision;
  bool is_final = reached.has_value();
  if (reached) {
    if (progress) scheduler_.completed(*progress, effects);
    decision = {Verdict::stop, std::move(*reached)};
  } else if (progress) {
    progress->checkpoint = trials_[static_cast<std::size_t>(event.trial)].checkpoint;
    if (scheduler_.history() != nullptr) progress->config = trials_[static_cast<std::size_t>(event.trial)].config;
    const bool in_step = scheduler_.shares_places() && !scheduler_.resumes_where_there_is_room();
    const bool more_to_come = !search_over_ && !search_waits_;
    progress->others_wait = event.others_wait.value_or(false) || others_wait() || (in_step && more_to_come);
    decision = scheduler_.reported(*progress, effects);
  }
  for (const SideEffects::Copy& copy : effects.copies) {
    is_final = is_final || copy.trial == event.trial;
    if (copy.trial == event.trial && copy.donor != copy.trial) decision.reason += copy_words(copy);
  }
  apply(effects);
  return {std::move(decision), is_final};
}

std::string TuneController::copy_words(const SideEffects::Copy& copy) const {
  return "; it continues from " + copy.checkpoint + " of trial " +
         trials_[static_cast<std::size_t>(copy.donor)].trial_id;
}

std::string TuneController::budget_words() const {
  return "the time budget of " + short_number(spec_.time_budget_s.value_or(0)) + " s has ended";
}

void TuneController::answer(std::int64_t number, std::int64_t report, Decision decision) {
  Live& here = live_.at(number);
  here.asked.reset();
  if (decision.verdict != Verdict::go_on) here.ending = decision;
  commands_.emplace_back(AnswerTrial{number, report, std::move(decision)});
}

void TuneController::on(const FrontDecided& event) {
  const auto here = live_.find(event.trial);
  if (here == live_.end() || here->second.ending || here->second.asked != event.number) return;
  if (spec_.overrules) {
    const bool agrees = here->second.proposed.verdict == event.verdict;
    if (event.verdict == Verdict::pause && !agrees) paused_by_front_.insert(event.trial);
    return answer(event.trial, event.number, agrees ? here->second.proposed : Decision{event.verdict, event.reason});
  }
  if (event.verdict == Verdict::pause) {
    paused_by_front_.insert(event.trial);
    return answer(event.trial, event.number, {event.verdict, event.reason});
  }
  const auto& numbers = trials_[static_cast<std::size_t>(event.trial)].last;
  const auto reached = event.verdict == Verdict::stop ? std::optional(event.reason) : std::nullopt;
  TrialReported reported{event.trial, event.number, numbers};
  reported.others_wait = here->second.others_wait;
  answer(event.trial, event.number, judge(reported, reached).decision);
}

void TuneController::apply(SideEffects& effects) {
  for (SideEffects::Copy& copy : effects.copies) begin_copy(std::move(copy));
  for (auto& [number, reason] : effects.stopped) {
    if (paused_.contains(number)) {
      end(number, TrialState::terminated, std::move(reason));
    } else if (live_.contains(number)) {
      live_.at(number).ending = Decision{Verdict::stop, std::move(reason)};
    }
  }
  for (const std::int64_t number : effects.resumed) {
    if (copying_.contains(number)) continue;  // It does so once it is a copy.
    if (paused_.contains(number)) {
      resume(number);
    } else if (live_.contains(number)) {
      promised_.insert(number);
    }
  }
}

void TuneController::resume(std::int64_t number) {
  paused_.erase(number);
  paused_by_front_.erase(number);
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  trial.state = TrialState::waiting;
  trial.reason.clear();
  waiting_.insert(number);
}

void TuneController::on(const TrialGone& event) {
  Trial* trial = live(event.trial);
  if (trial == nullptr) return;
  search_waits_ = false;
  if (trial->state == TrialState::starting) --starting_;
  const Live here = live_.extract(event.trial).mapped();
  held_.erase(event.trial);
  returned_.erase(event.trial);
  if (event.state == "errored") {
    end(event.trial, TrialState::errored, event.words);
  } else if (here.ending) {
    end_as_told(event.trial, here);
    go_on_with_copy(event.trial);
  } else if (event.state == "aborted") {
    trial->state = TrialState::waiting;
    trial->left = true;
    tell_end(event.trial, "unfinished", event.words);
  } else {
    complete(event.trial, event.words);
  }
}

/// Its function has returned, or was stopped by somebody whom the experiment does not know.
void TuneController::complete(std::int64_t number, const std::string& words) {
  const Trial& trial = trials_[static_cast<std::size_t>(number)];
  if (const auto progress = scheduler_.progress(number, trial.last)) {
    SideEffects effects;
    scheduler_.completed(*progress, effects);
    apply(effects);
  }
  const std::string reports = counted(trial.reports, "report");
  end(number, TrialState::terminated, words.empty() ? "it has returned after " + reports : words);
}

void TuneController::paused(std::int64_t number, const std::string& reason) {
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  trial.state = TrialState::paused;
  trial.reason = reason;
  paused_.insert(number);
  tell_end(number, "paused", reason);
  if (promised_.erase(number) > 0) resume(number);
}

void TuneController::end(std::int64_t number, TrialState state, std::string reason) {
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  waiting_.erase(number);
  paused_.erase(number);
  promised_.erase(number);
  copying_.erase(number);
  paused_by_front_.erase(number);
  trial.state = state;
  trial.reason = std::move(reason);
  tell_end(number, state == TrialState::errored ? "errored" : "terminated", trial.reason);
  SideEffects effects;
  scheduler_.removed(number, effects);
  apply(effects);
  if (state == TrialState::errored && spec_.fail_fast) {
    stop("trial " + trial.trial_id + " errored (fail_fast): " + trial.reason, true);
  }
}

void TuneController::on(const TrialStopAsked& event) {
  if (waiting_.contains(event.trial) || paused_.contains(event.trial)) {
    end_paused(event.trial, event.reason);
    return;
  }
  const auto here = live_.find(event.trial);
  if (here == live_.end() || here->second.ending) return;
  here->second.ending = Decision{Verdict::stop, event.reason};
  commands_.emplace_back(StopTrial{event.trial, event.reason, false});
}

void TuneController::on(const ExperimentStopAsked& event) { stop(event.reason, true); }

/// Ends what lives; what has not begun stays as it is.
void TuneController::stop(std::string reason, bool aborts) {
  if (aborts && !stop_reason_) stop_reason_ = reason;
  for (auto& [number, here] : live_) {
    if (here.ending) continue;
    here.asked.reset();
    if (!aborts) here.ending = Decision{Verdict::stop, reason};
    commands_.emplace_back(StopTrial{number, reason, aborts});
  }
}

/// Trials end at their next report, and those that make none in time between two.
void TuneController::on(const TimeCame&) {
  if (!spec_.time_budget_s) return;
  if (time_over_) {
    stop(budget_words(), false);
    return;
  }
  if (now_ + rounding < budget_end_) return;
  time_over_ = true;
  for (const std::int64_t number : std::set(paused_)) {
    // The end of one may have ended it.
    if (!is_over(trials_[static_cast<std::size_t>(number)].state)) end_paused(number, budget_words());
  }
  for (const std::int64_t number : held_) commands_.emplace_back(StopTrial{number, budget_words(), true});
  if (!live_.empty()) commands_.emplace_back(SetTimer{now_ + over_time});
}

/// What has ended may give the search something to suggest.
void TuneController::tell_end(std::int64_t number, const std::string& state, const std::string& reason) {
  commands_.emplace_back(TellEnd{number, state, reason});
  search_waits_ = false;
  for (Question& question : questions_) question.ended_since = true;
}

/// How many suggestions the search was asked for, and has not answered.
int TuneController::asked() const {
  return std::accumulate(questions_.begin(), questions_.end(), 0,
                         [](int sum, const Question& question) { return sum + question.open; });
}

void TuneController::ask_for_more() {
  if (search_over_ || search_waits_ || stop_reason_ || time_over_ || spec_.path.empty()) return;
  const int waiting = static_cast<int>(waiting_.size());
  int wanted = ahead() + suggested_ahead - waiting - starting_;
  if (spec_.max_concurrent) {
    // A search that learns hears of an end before it is asked.
    const int here = prepared() > 0 ? inside() : static_cast<int>(live_.size());
    wanted = std::min(wanted, *spec_.max_concurrent + prepared() - waiting - here);
  }
  const int more = wanted - asked();
  if (more <= 0) return;
  commands_.emplace_back(AskSuggestions{more});
  questions_.push_back({more});
}

void TuneController::finish_when_done() {
  const bool clones = std::ranges::any_of(copying_, [](const auto& each) { return each.second.clones; });
  const bool chooses = choosing_ && !stop_reason_ && !time_over_;
  if (finished_ || chooses || !live_.empty() || clones) return;
  if (stop_reason_ || time_over_) {
    finished_ = true;
    commands_.emplace_back(FinishExperiment{"stopped", stop_reason_ ? *stop_reason_ : budget_words()});
    return;
  }
  if (!waiting_.empty() || !copying_.empty() || !questions_.empty() || !(search_over_ || search_waits_)) return;
  SideEffects effects;
  scheduler_.idle(effects);
  apply(effects);
  if (!copying_.empty()) return fill();
  // Those that were not promoted, and now never will be.
  for (const std::int64_t number : std::set(paused_)) {
    if (!waiting_.empty()) return fill();
    if (!paused_.contains(number)) continue;
    end(number, TrialState::terminated, std::string(trials_[static_cast<std::size_t>(number)].reason));
  }
  if (!waiting_.empty()) return fill();
  if (!search_over_ && !search_waits_) return ask_for_more();
  finished_ = true;
  if (search_over_) {
    commands_.emplace_back(FinishExperiment{"finished", "all of " + counted(trials_.size(), "trial") + " have ended",
                                            std::ssize(trials_)});
  } else {
    commands_.emplace_back(FinishExperiment{"finished", "no trial is left, and the search has no suggestion"});
  }
}

}  // namespace headway::control::tune
