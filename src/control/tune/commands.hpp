#pragma once

#include "control/tune/decision.hpp"
#include "core/time.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// What the controller of an experiment wants done, in order. Whatever ends something carries its
/// reason in words.
namespace headway::control::tune {

/// Ask the search for up to so many more trials → TrialSuggested for each, and then, where there
/// are fewer, NothingSuggested or SearchOver.
struct AskSuggestions {
  int count = 1;
};

/// Start the trial's run → TrialReady, and at last TrialGone.
struct StartTrial {
  std::int64_t trial = 0;
  int start = 1;         ///< From 1: one that was paused, or whose driver has died, starts again.
  bool resumes = false;  ///< From its newest checkpoint.
};

/// Have the trial's report return, or end the trial with it → TrialGone. The report was recorded.
struct AnswerTrial {
  std::int64_t trial = 0;
  std::int64_t number = 0;
  Decision decision;
};

/// Ask the front end for its verdict → FrontDecided.
struct AskVerdict {
  std::int64_t trial = 0;
  std::int64_t number = 0;
};

/// End the trial between two reports, with its processes → TrialGone.
struct StopTrial {
  std::int64_t trial = 0;
  std::string reason;
  bool aborts = false;  ///< It does not count as finished.
};

/// Tell who wants to know: the trial has ended, or is paused.
struct TellEnd {
  std::int64_t trial = 0;
  std::string state;  ///< A TrialState's name.
  std::string reason;
};

/// → TimeCame.
struct SetTimer {
  Time at{};
};

struct FinishExperiment {
  std::string state;  ///< "finished" or "stopped".
  std::string reason;
};

using TuneCommand =
    std::variant<AskSuggestions, StartTrial, AnswerTrial, AskVerdict, StopTrial, TellEnd, SetTimer, FinishExperiment>;
using TuneCommands = std::vector<TuneCommand>;

}  // namespace headway::control::tune
