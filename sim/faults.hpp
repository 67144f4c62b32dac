#pragma once

#include "core/time.hpp"
#include "sim/random.hpp"

#include <boost/describe.hpp>

#include <array>
#include <cstdint>
#include <set>

namespace headway::sim {

/// What can go wrong in a simulated run.
enum class Fault {
  abort,              ///< Somebody asks for the end, at any moment.
  append_fails,       ///< A line of the results cannot be written.
  callback_fails,     ///< A callback of the front end raises.
  checkpoint_pinned,  ///< Somebody else needs a checkpoint, or none any more.
  calls_differ,       ///< A rank calls another barrier or broadcast than the others.
  begin_fails,        ///< A checkpoint's directory cannot be made.
  commit_fails,       ///< A manifest cannot be written.
  commit_lies,        ///< A commit is said to have failed, and is durable all the same.
  copy_fails,         ///< A copy of the ranks' working directories fails.
  copy_hangs,         ///< Such a copy does not end by itself.
  crash,              ///< A worker's process dies, wherever it stands.
  deaf_to_sigterm,    ///< A worker ignores SIGTERM.
  delete_fails,       ///< An old checkpoint cannot be deleted.
  discard_fails,      ///< An unfinished checkpoint cannot be removed.
  driver_dies,        ///< The driver is killed, and a new one resumes the run.
  /// The driver ends in order before the run does, and a new one resumes it.
  driver_ends,
  /// The driver receives SIGTERM, maybe twice, and ends; a new one resumes the run.
  driver_preempted,
  /// An exception that looks like another rank's echo, without another's failure.
  echo,
  exit_code,           ///< A worker that had returned ends with an exit code or a signal.
  exit_handler_hangs,  ///< A worker does not exit by itself after its function has returned.
  exits_unasked,       ///< A worker that has returned exits before it should.
  folder_lost,         ///< The run's folder is deleted.
  hangs,               ///< A rank or a hook stops for good, where hang_fail_s is to find it.
  journal_fails,       ///< run.json cannot be written.
  late_timer,          ///< A timer fires seconds after its time.
  node_lost,           ///< A node is out of reach; its workers live on for a while.
  node_preempted,      ///< A node is taken away with notice, at its deadline, before or after it.
  nodes_refused,       ///< There is no place for the workers.
  overtaken,           ///< Another driver has taken the run over.
  raise,               ///< The training function raises.
  returns_early,       ///< A rank calls report less often than the others.
  returns_in_report,   ///< A rank returns while a thread of it waits in report.
  capacity_changes,    ///< There is capacity for more workers than before, or for fewer.
  setup_fails,         ///< A set-up hook raises.
  slow_exit,           ///< A killed process is not gone for seconds.
  slow_hook,           ///< A set-up or tear-down hook takes seconds.
  slow_message,        ///< A message of a worker takes seconds; what it says later waits behind it.
  slow_start,          ///< A process takes seconds to start.
  slow_storage,        ///< A storage operation takes seconds; what was asked later waits behind it.
  stale_event,         ///< An event of an attempt that has ended comes once more.
  stop_asked,          ///< The user's conditions end the run.
  storage_not_shared,  ///< A rank does not see the checkpoint's directory.
  storage_refused,     ///< The run's folder cannot be written.
  sweep_fails,         ///< What was left unfinished cannot be removed.
  sync_fails,          ///< The run's small files cannot be brought to remote storage.
  upload_fails,        ///< A rank cannot store its part of a checkpoint.
  validation_crashes,  ///< A validation's process dies.
  validation_hangs,    ///< A validation function does not return, where a time limit is to end it.
  validation_raises    ///< A validation function raises.
};
BOOST_DESCRIBE_ENUM(Fault, abort, append_fails, callback_fails, checkpoint_pinned, calls_differ, begin_fails,
                    commit_fails, commit_lies, copy_fails, copy_hangs, crash, deaf_to_sigterm, delete_fails,
                    discard_fails, driver_dies, driver_ends, driver_preempted, echo, exit_code, exit_handler_hangs,
                    exits_unasked, folder_lost, hangs, journal_fails, late_timer, node_lost, node_preempted,
                    nodes_refused, overtaken, raise, returns_early, returns_in_report, capacity_changes, setup_fails,
                    slow_exit, slow_hook, slow_message, slow_start, slow_storage, stale_event, stop_asked,
                    storage_not_shared, storage_refused, sweep_fails, sync_fails, upload_fails, validation_crashes,
                    validation_hangs, validation_raises)

inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(Fault::validation_raises) + 1;
const char* to_string(Fault fault);

/// Decides when something goes wrong. Each seed has a number of faults that it may spend, and some
/// kinds that it never has: mixes of few kinds reach states that a mix of all hides.
class Faults {
 public:
  explicit Faults(Random& random);

  /// Asked wherever `fault` could happen; true when it does.
  bool happen(Fault fault, Time now);

  const std::array<int, fault_kinds>& counts() const { return counts_; }
  Time last() const { return last_; }

 private:
  Random* random_;
  int left_ = 0;
  std::array<int, fault_kinds> one_in_{};  ///< 0: never.
  std::array<int, fault_kinds> counts_{};
  Time last_{};
};

}  // namespace headway::sim
