#include "sim/tune/experiment_world.hpp"

#include <algorithm>

/// What trials and the front end do, as commands want it.
namespace headway::control::tune::sim {

using namespace std::chrono_literals;
using ::headway::sim::require;

namespace {

constexpr const char* one_life = "a trial has one life at a time, and none after its end";

}  // namespace

void ExperimentWorld::carry_out(const AskSuggestions& command) {
  // Its answer to an earlier question may have overtaken this one.
  if (!controller_.search_over()) front(50ms, [this, count = command.count] { suggest(count); });
}

void ExperimentWorld::suggest(int count) {
  for (int i = 0; i < count && !controller_.search_over(); ++i) {
    const std::size_t given = controller_.trials().size();
    if (given == scenario_.courses.size()) {
      return handle(SearchOver{});
    }
    const bool limited = scenario_.limit && std::ssize(searched_) >= *scenario_.limit;
    has_nothing_ = !limited && random_.one_in(8);
    if (limited || has_nothing_) return handle(NothingSuggested{});
    searched_.insert(static_cast<std::int64_t>(given));
    const std::string id = "t" + std::to_string(given);
    handle(TrialSuggested{id, "{}", id});
  }
}

void ExperimentWorld::carry_out(const StartTrial& command) {
  Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  require(!trial.alive, one_life, "it is started twice");
  require(!trial.ended, one_life, "trial " + std::to_string(command.trial) + " starts again");
  require(!trial.decided, one_life,
          "trial " + std::to_string(command.trial) + " starts after the verdict that ends it");
  trial = {.results = trial.results,
           .saved = trial.saved,
           .life = trial.life + 1,
           .alive = true,
           .pinned = controller_.pinned(command.trial)};
  if (command.held) return;
  for_slots_.push_back(command.trial);
  give_slots();
}

void ExperimentWorld::carry_out(const ReleaseTrial& command) {
  const Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  if (!trial.alive || trial.ends) return;
  require(!trial.has_slot && std::ranges::find(for_slots_, command.trial) == for_slots_.end(), one_life,
          "trial " + std::to_string(command.trial) + " is let in twice");
  for_slots_.push_back(command.trial);
  give_slots();
}

void ExperimentWorld::give_slots() {
  while (slots_used_ < scenario_.slots && !for_slots_.empty()) {
    const std::int64_t number = for_slots_.front();
    for_slots_.pop_front();
    Trial& trial = trials_.at(static_cast<std::size_t>(number));
    trial.has_slot = true;
    ++slots_used_;
    after(10ms, 300ms, [this, number, &trial, life = trial.life] {
      if (trial.life != life || trial.ends) return;
      if (random_.one_in(25)) return end(number, "errored", "it cannot be started");
      begin(number);
      if (random_.one_in(25)) stop_later(number);
    });
  }
}

/// The user ends a trial of any state.
void ExperimentWorld::stop_later(std::int64_t number) {
  const std::int64_t any = random_.one_in(2) ? number : random_.below(static_cast<int>(trials_.size()));
  after(0ms, 2s, [this, any] {
    if (any < static_cast<std::int64_t>(controller_.trials().size())) handle(TrialStopAsked{any, "the user said so"});
  });
}

/// Its ranks are ready. Reports that no driver has heard come first.
void ExperimentWorld::begin(std::int64_t number) {
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  handle(TrialReady{number});
  trial.step = trial.saved.empty() ? 0 : trial.saved.back().step;
  const std::int64_t heard = controller_.trials().at(static_cast<std::size_t>(number)).reports;
  trial.earlier = static_cast<std::int64_t>(trial.results.size());
  if (heard == trial.earlier) return next_step(number);
  for (std::int64_t report = heard + 1; report <= trial.earlier; ++report) handle(reported(number, report));
}

void ExperimentWorld::next_step(std::int64_t number) {
  const Course& course = scenario_.courses.at(static_cast<std::size_t>(number));
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  after(course.step_time / 2, course.step_time, [this, number, &course, &trial, life = trial.life] {
    if (trial.life != life || trial.ends) return;
    if (course.raises_at == trial.step) return end(number, "errored", "ValueError: bad");
    // A copy may have come further than its own course goes.
    if (std::cmp_greater_equal(trial.step, course.scores.size())) return return_from(number);
    report(number);
  });
}

/// The run records it; the experiment hears of it a little later.
void ExperimentWorld::report(std::int64_t number) {
  const Course& course = scenario_.courses.at(static_cast<std::size_t>(number));
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  ++trial.step;
  trial.results.push_back({trial.step});
  if (course.checkpoint_every > 0 && trial.step % course.checkpoint_every == 0) {
    trial.results.back().checkpoint = "checkpoint_" + std::to_string(trial.results.size());
    trial.saved.push_back({*trial.results.back().checkpoint, trial.step});
    retire(trial);
  }
  trial.waits = static_cast<std::int64_t>(trial.results.size());
  after(0ms, 3ms, [this, number, &trial, report = trial.waits] {
    if (trial.alive) handle(reported(number, report));
  });
}

TrialReported ExperimentWorld::reported(std::int64_t number, std::int64_t report) const {
  const Recorded& result =
      trials_.at(static_cast<std::size_t>(number)).results.at(static_cast<std::size_t>(report - 1));
  const std::vector<int>& scores = scenario_.courses.at(static_cast<std::size_t>(number)).scores;
  const int score = scores.at(static_cast<std::size_t>(result.step - 1));
  TrialReported event{number, report, {{"score", score}, {"training_iteration", result.step}}};
  event.checkpoint = result.checkpoint;
  if (!for_slots_.empty()) event.others_wait = true;
  return event;
}

void ExperimentWorld::carry_out(const AnswerTrial& command) {
  Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  if (!trial.alive || trial.ends) return;
  require(command.number == trial.waits || command.number <= trial.earlier, "each report is answered once",
          "report " + std::to_string(command.number) + " does not wait");
  if (command.decision.verdict != Verdict::go_on) {
    require(!command.decision.reason.empty(), "what ends has a reason", "a verdict has none");
    return end(command.trial, "finished", "");
  }
  if (command.number < trial.earlier) return;
  trial.waits = 0;
  next_step(command.trial);
}

void ExperimentWorld::carry_out(const AskVerdict& command) {
  after(0ms, 100ms, [this, command] {
    const int drawn = random_.below(12);
    const Verdict verdict = drawn == 0 ? Verdict::stop : drawn == 1 ? Verdict::pause : Verdict::go_on;
    handle(FrontDecided{command.trial, command.number, verdict, verdict == Verdict::go_on ? "" : "the user decides"});
  });
}

void ExperimentWorld::carry_out(const StopTrial& command) {
  require(!command.reason.empty(), "what ends has a reason", "a trial is stopped without one");
  if (!trials_.at(static_cast<std::size_t>(command.trial)).alive) return;
  end(command.trial, command.aborts ? "aborted" : "finished", command.reason);
}

/// Where it holds CPUs alone, its slots are free at once.
void ExperimentWorld::return_from(std::int64_t number) {
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  if (scenario_.returns_early) {
    if (std::exchange(trial.has_slot, false)) --slots_used_;
    trial.returned = true;
    handle(TrialReturned{number});
    give_slots();
  }
  end(number, "finished", "");
}

void ExperimentWorld::end(std::int64_t number, const std::string& state, const std::string& words) {
  Trial& trial = trials_.at(static_cast<std::size_t>(number));
  if (std::exchange(trial.ends, true)) return;
  std::erase(for_slots_, number);
  after(1ms, 200ms, [this, number, state, words, &trial] {
    if (trial.has_slot) --slots_used_;
    trial.alive = trial.has_slot = false;
    handle(TrialGone{number, state, words});
    give_slots();
  });
}

void ExperimentWorld::carry_out(const TellEnd& command) {
  Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  require(!command.reason.empty(), "what ends has a reason", "trial " + std::to_string(command.trial) + " has none");
  require(!trial.alive, one_life, "it is said to have ended, and lives");
  if (command.state == "paused" || command.state == "unfinished") return;
  require(command.reason.find("makes way for") == std::string::npos, "who makes way for others continues",
          "trial " + std::to_string(command.trial) + " is ended");
  front(0ms, [this, number = command.trial] {
    searched_.erase(number);
    has_nothing_ = false;
  });
  require(!aborted_.contains(command.trial), one_life, "what the end of the experiment has cut short is no end");
  require(!std::exchange(trial.ended, true), one_life, "trial " + std::to_string(command.trial) + " ends twice");
}

void ExperimentWorld::carry_out(const SetTimer& command) {
  const Duration left = std::max(command.at - experiment_time(), Duration::zero());
  after(left, left, [this] { handle(TimeCame{}); });
}

void ExperimentWorld::carry_out(const FinishExperiment& command) {
  require(!finish_, "the experiment ends once", "it ends twice");
  for (const Trial& trial : trials_) require(!trial.alive, one_life, "a trial outlives its experiment");
  finish_ = command;
}

}  // namespace headway::control::tune::sim
