#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What schedulers of trials decide.
namespace headway::control::tune {

/// The answer to a report.
enum class Verdict {
  go_on,
  stop,  ///< The trial has ended.
  pause  ///< It gives its place up, and may go on later from its newest checkpoint.
};
BOOST_DESCRIBE_ENUM(Verdict, go_on, stop, pause)

struct Decision {
  Verdict verdict = Verdict::go_on;
  std::string reason = {};  ///< In words, unless the trial goes on.
};

/// A report as schedulers see it.
struct Progress {
  std::int64_t trial = 0;                      ///< Its number, in the order of suggestion.
  double time = 0;                             ///< The scheduler's `time_attr`.
  double score = 0;                            ///< More is better: negated where less is.
  double iteration = 0;                        ///< Its training_iteration, for those that read it.
  std::optional<std::string> checkpoint = {};  ///< The trial's newest.
  bool others_wait = false;                    ///< For the trial's place.
  std::string config = {};                     ///< The trial's, as JSON, for those that keep it.
};

/// What a decision means for other trials.
struct SideEffects {
  struct Stopped {
    std::int64_t trial = 0;
    std::string reason;
  };
  /// A trial that continues from another one's checkpoint, with another configuration.
  struct Copy {
    std::int64_t trial = 0;
    std::int64_t donor = 0;  ///< The trial itself: only its configuration changes.
    std::string checkpoint;  ///< The donor's.
    double iteration = 0;    ///< The donor's at that checkpoint.
    double score = 0;        ///< The donor's.
    std::string reason;
  };
  std::vector<Stopped> stopped;       ///< Paused ones that have ended.
  std::vector<Copy> copies;           ///< Those that are not paused get their pause as the answer.
  std::vector<std::int64_t> resumed;  ///< Paused ones that go on.
};

}  // namespace headway::control::tune
