#pragma once

#include "control/tune/decision.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace headway::control::tune {

enum class TrialState {
  waiting,     ///< For a place.
  starting,    ///< For slots, and its processes.
  running,     ///< Its processes live.
  paused,      ///< It may go on.
  terminated,  ///< By itself, or by a decision.
  errored
};
BOOST_DESCRIBE_ENUM(TrialState, waiting, starting, running, paused, terminated, errored)

inline bool is_over(TrialState state) { return state == TrialState::terminated || state == TrialState::errored; }

/// A trial as the experiment's journal tells it.
struct Trial {
  std::string trial_id;
  std::string config;  ///< JSON.
  std::string folder;
  TrialState state = TrialState::waiting;
  std::string reason;  ///< Why it ended, or pauses.
  int starts = 0;
  std::int64_t reports = 0;
  std::map<std::string, double> last;     ///< Of its last report: the numbers that are needed.
  std::optional<std::string> checkpoint;  ///< The newest that was reported with.
  bool left = false;                      ///< By an earlier driver, and it does not go on.
  bool replaced = false;                  ///< By a later trial of its configuration.
  std::string tag;                        ///< As PBT's files name it.
  bool copied = false;                    ///< It has not started with its configuration.
};
BOOST_DESCRIBE_STRUCT(Trial, (),
                      (trial_id, config, folder, state, reason, starts, reports, last, checkpoint, left, replaced, tag,
                       copied))

}  // namespace headway::control::tune
