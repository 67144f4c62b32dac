#pragma once

#include "control/collective_barrier.hpp"
#include "control/collective_watch.hpp"
#include "control/events.hpp"
#include "control/run_outcome.hpp"
#include "control/worker_group.hpp"
#include "core/worker.hpp"

#include <string>
#include <vector>

/// The words of failures, and what programs need to know of them. The first lines of the words are
/// the user's own failure; then who and where; then what the others were doing.
namespace headway::control {

/// A rank's part in a failure, with its place and process as the group knows them.
RankFailure rank_failure(const WorkerGroup& group, int rank, RankFailureKind kind, std::string text, int attempt);

RunFailure describe_raise(const WorkerGroup& group, int rank, const RankError& error, int attempt, Time now);

RunFailure describe_exit(const WorkerGroup& group, int rank, const ExitStatus& status, const std::string& log_tail,
                         int attempt, Time now);

/// A node is lost, with the ranks that were there.
RunFailure describe_lost_node(const WorkerGroup& group, const std::string& node_id, const std::string& reason,
                              int attempt, Time now);

/// A node will be taken away, with the ranks that are there.
std::string describe_preemption_notice(const WorkerGroup& group, const NodePreempted& event);
/// The group had to leave a node.
RunFailure describe_preemption(const WorkerGroup& group, Preemption preemption, int attempt, Time now);

/// The driver received SIGTERM, and the ranks have a notice period.
std::string describe_driver_notice(const WorkerGroup& group, const DriverPreempted& event);
/// The run ends with its driver; `why` completes the first line. `group` is null where no attempt
/// ends by that.
RunFailure describe_driver_preemption(const WorkerGroup* group, Preemption preemption, const std::string& why,
                                      int attempt, Time now);

/// `waiting` ranks wait in report `index`, and `returned` have finished their function and can
/// never come.
RunFailure describe_unmatched_report(const WorkerGroup& group, const std::vector<int>& waiting,
                                     const std::vector<int>& returned, std::int64_t index, int attempt, Time now);

/// Ranks wait in a barrier or broadcast, and `returned` have finished their function and can never
/// come.
RunFailure describe_unmatched_collective(const WorkerGroup& group, const CollectiveBarrier& waiting,
                                         const std::vector<int>& returned, int attempt, Time now);

/// `returned` have finished their function without entering the collective `stuck`, in which others
/// wait. `positions` has a line a rank.
RunFailure describe_endless_collective(const WorkerGroup& group, const StuckCollective& stuck,
                                       const std::vector<int>& returned, const std::string& positions, int attempt);

/// Rank `different` calls another collective than the first rank that waits.
RunFailure describe_different_calls(const WorkerGroup& group, const CollectiveBarrier& waiting, int different,
                                    int attempt, Time now);

RunFailure describe_setup(const WorkerGroup& group, const RankError& error, int attempt);

/// Why a checkpoint cannot be stored: the nodes of `ranks` do not see the directory that the driver
/// has made for it.
std::string describe_unshared_storage(const WorkerGroup& group, std::vector<int> ranks,
                                      const std::string& storage_path);

/// The first line of a failure's message.
std::string headline(const RunFailure& failure);

}  // namespace headway::control
