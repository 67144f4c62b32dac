#pragma once

#include <boost/describe.hpp>

#include <cstdint>
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
  std::int64_t trial = 0;  ///< Its number: trials are counted in the order of their suggestion.
  double time = 0;         ///< The scheduler's `time_attr`.
  double score = 0;        ///< The metric, of which more is better: negated where less is.
};

/// What a decision means for other trials.
struct SideEffects {
  struct Stopped {
    std::int64_t trial = 0;
    std::string reason;
  };
  std::vector<Stopped> stopped;       ///< Paused ones that have ended.
  std::vector<std::int64_t> resumed;  ///< Paused ones that go on.
};

}  // namespace headway::control::tune
