#pragma once

#include "control/collective_watch.hpp"
#include "control/events.hpp"
#include "control/hang_watch.hpp"
#include "control/run_outcome.hpp"
#include "control/worker_group.hpp"

#include <string>
#include <vector>

/// The words for waits that take long. Their first line names who is waited for, at which call, and
/// for how long.
namespace headway::control {

/// A wait with the names that belong to it.
struct WaitScene {
  Wait wait;
  int attempt = 0;
  std::vector<int> awaited;  ///< The ranks to blame; empty when it is none of them.
  std::vector<int> waiting;  ///< Those that are held up, where it is not all of the run.
  /// The awaited ranks' processes were seen at work, with this import where it is one.
  bool busy = false;
  std::string importing;
  /// The awaited ranks were on lost nodes, and may live until those nodes' leases have run out.
  bool leased = false;
  /// What storage is asked for, the checkpoint's name, or what is said of a collective ("barrier"
  /// or "broadcast").
  std::string subject;
  /// Of ranks that are awaited in a report: "rank 1 is in gloo:all_reduce [4] Float #7 of process
  /// group world, which rank 0 has not entered".
  std::string crossed;
  /// Of ranks that are awaited, or wait themselves: "rank 1 waits for data: stage map_batches(f)
  /// has had no output for 60 s".
  std::vector<std::string> data;
  std::string positions;  ///< A line a rank on where it stands in its collectives.
};

/// "rank 1 has finished the training function, and rank 0 has been in gloo:all_reduce [4] Float #7
/// of process group world".
std::string unmatched_collective(const StuckCollective& stuck);

/// "rank 1 has not come to report #3, in which rank 0 has waited for 30.0 s".
std::string hang_headline(const WaitScene& scene, Time now);

/// The same without how long: "rank 1 has not come to report #3, in which rank 0 has waited".
std::string wait_words(const WaitScene& scene);

/// All of a warning: the headline, what the awaited ranks were seen doing, and where every rank
/// stands.
std::string describe_hang(const WorkerGroup& group, const WaitScene& scene, const RanksExamined& seen, Time now);

/// "report #3 is complete: it had waited for rank 1 for 41.2 s" and the like.
std::string describe_resolved(const HangWatch::Resolved& resolved);

/// The attempt's failure when hang_fail_s has passed, in the past tense: "rank 1 did not come to
/// report #3, in which rank 0 waited for 30.0 s".
RunFailure describe_hang_failure(const WorkerGroup& group, const WaitScene& scene, const RanksExamined& seen,
                                 double hang_fail_s, Time now);

}  // namespace headway::control
