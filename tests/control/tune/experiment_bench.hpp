#pragma once

#include "control/tune/tune_controller.hpp"

#include <string>
#include <utility>
#include <vector>

namespace headway::control::tune {

/// An experiment whose world is this test. Every event goes into a journal, too.
class Bench {
 public:
  explicit Bench(ExperimentSpec spec) : spec(std::move(spec)) { this->spec.path = "/experiment"; }

  void handle(const TuneEvent& event) {
    journal.push_back(to_line(now, event));
    last = controller.handle(now, event);
    all.insert(all.end(), last.begin(), last.end());
    for (const TuneCommand& command : last) {
      if (const auto* asked = std::get_if<AskSuggestions>(&command)) open += asked->count;
    }
  }
  void begin() { handle(DriverBegan{spec, 0}); }
  /// Answers all questions for suggestions, until there have been `count` trials.
  void suggest(std::size_t count) {
    while (open > 0 && controller.trials().size() < count) {
      --open;
      const std::string id = "t" + std::to_string(controller.trials().size());
      handle(TrialSuggested{id, "{}", id});
    }
    if (open > 0 && controller.trials().size() >= count && !controller.search_over()) handle(SearchOver{});
  }
  void report(std::int64_t trial, double score, double time = 1) {
    handle(TrialReported{trial, static_cast<std::int64_t>(time), {{"score", score}, {"training_iteration", time}}});
  }
  void gone(std::int64_t trial, const std::string& state = "finished", const std::string& words = "") {
    handle(TrialGone{trial, state, words});
  }
  template <class Command>
  std::vector<Command> in(const TuneCommands& commands) const {
    std::vector<Command> found;
    for (const TuneCommand& command : commands) {
      if (const auto* it = std::get_if<Command>(&command)) found.push_back(*it);
    }
    return found;
  }
  std::vector<std::int64_t> started() const {
    std::vector<std::int64_t> trials;
    for (const StartTrial& start : in<StartTrial>(all)) trials.push_back(start.trial);
    return trials;
  }
  const Trial& trial(std::size_t number) const { return controller.trials().at(number); }

  ExperimentSpec spec;
  TuneController controller;
  Time now{};
  std::vector<std::string> journal;
  TuneCommands last;
  TuneCommands all;
  int open = 0;
};

inline ExperimentSpec with_asha() {
  ExperimentSpec spec;
  spec.metric = "score";
  spec.mode = "max";
  spec.scheduler = {{"kind", "asha"}, {"max_t", 16}};
  return spec;
}

}  // namespace headway::control::tune
