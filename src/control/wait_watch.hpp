#pragma once

#include "control/attempt.hpp"
#include "control/callback_lag.hpp"
#include "control/collective_watch.hpp"
#include "control/data_watch.hpp"
#include "control/hang_text.hpp"
#include "control/hang_watch.hpp"
#include "control/held_nodes.hpp"
#include "control/outbox.hpp"
#include "control/report_pipeline.hpp"
#include "control/run_state.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace headway::control {

/// The parts of a run that somebody can be waited for in, at one moment.
struct RunScene {
  RunState state = RunState::created;
  Time started{};
  const Attempt& attempt;
  const ReportPipeline& reports;
  const CallbackLag& callbacks;
  const HeldNodes& nodes;
  const DataWatch& data;
  std::string_view attempt_end;  ///< Why the last attempt was ended; empty when none was.
};

/// What the run waits for at any moment, and what is done when that takes long: it has the ranks
/// looked at that are waited for, and then says whether to warn or to end the attempt.
class WaitWatch {
 public:
  explicit WaitWatch(const RunSpec& spec);

  /// The ranks train, or every rank has made a report: what was known of their collectives is past.
  void begin(Time now, int world_size) { collectives_.restart(now, world_size); }

  /// What is waited for; nothing when nobody is held up.
  std::optional<Wait> current(const RunScene& scene) const;
  /// A wait with the names that belong to it.
  WaitScene describe(const RunScene& scene, const Wait& wait, Time now) const;
  /// The collective in which ranks are held up.
  const std::optional<StuckCollective>& stuck() const { return collectives_.stuck(); }

  /// Ranks that have returned, and for which others wait in the collective `stuck()`, as two looks
  /// have shown: that can never end.
  std::vector<int> returned_without_entering(const Attempt& attempt) const;
  /// A line a rank on where it stands in its collectives.
  std::string positions(Time now) const { return collectives_.describe_positions(now); }

  /// The last thing that every event does, so it looks at a few fields only. With `quiet` the end
  /// of a wait is not announced: the run says something else about it.
  void watch(const RunScene& scene, bool quiet, Outbox& out);
  void hang_timer_fired() { hangs_.woken(); }
  void look_timer_fired() { collectives_.woken(); }

  void seen(const CollectivesSeen& event, Time now) { collectives_.seen(now, event.rank, event.look, event.positions); }

  /// What an examination has led to.
  struct Verdict {
    HangWatch::Outcome outcome = HangWatch::Outcome::stale;
    WaitScene scene = {};  ///< Unless it is stale.
    bool in_hook = false;  ///< The thread that called fit() is waited for, in code of the user's.
  };
  Verdict examined(const RunScene& scene, const RanksExamined& event, Time now);

 private:
  std::optional<Wait> of_reports(const RunScene& scene) const;
  void watch_collectives(const RunScene& scene, Outbox& out);
  void examine(const RunScene& scene, std::int64_t examination, const Wait& wait, Outbox& out);

  /// Whether every process that ranks need to become ready has used CPU time since the last look.
  bool starts_at_work(const Wait& wait, const RanksExamined& event, Time now);

  struct Look {
    int attempt = 0;
    std::int64_t pid = 0;
    double cpu_s = 0;
    Time at{};
  };

  bool asks_ranks_;  ///< They can say where they stand in their collectives.
  HangWatch hangs_;
  CollectiveWatch collectives_;
  std::map<int, Look> looks_;  ///< The last one at each rank that was awaited in a start.
};

}  // namespace headway::control
