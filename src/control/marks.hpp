#pragma once

#include <boost/describe.hpp>

/// Marks on the branches that only rare circumstances reach: each way in which the controller
/// recovers or gives up. In production a mark costs a look at a pointer; the simulator (sim/)
/// counts them, and fails when its runs never came to one.
namespace headway::control {

enum class Mark {
  abort_before_storage,  ///< An abort before anything was written.
  abort_of_a_group,      ///< An abort while processes live, or a commit is under way.
  abort_of_nobody,       ///< An abort before the first attempt or between two.
  callback_failed,       ///< A callback of the front end has raised.
  begin_refused,         ///< A checkpoint could not be begun.
  checkpoint_dropped,    ///< A report counts without its checkpoint, which could not be stored.
  commit_refused,        ///< A commit failed, or is said to have.
  copy_failed,           ///< The ranks' working directories could not be copied.
  copy_stopped,          ///< A copy of them took too long.
  death,                 ///< A process ended before its training function had returned.
  death_after_return,    ///< A process ended badly after its function had returned.
  /// A process ended before it had stored its part of a checkpoint.
  death_while_uploading,
  deletion_failed,                  ///< An old checkpoint could not be deleted; it is tried again.
  driver_ended,                     ///< The driver ends in order, before the run does.
  driver_preempted,                 ///< The driver is to end, and ranks have a notice period.
  driver_preempted_between,         ///< It is to end, and no rank trains that could save anything.
  driver_preempted_saved,           ///< Within it a checkpoint was saved.
  echo_believed,                    ///< No cause came within the grace.
  echo_of_a_group_that_ended,       ///< No process is left that could tell the cause of an echo.
  echo_of_all,                      ///< Every rank has raised or returned, and nobody told a cause.
  exit_grace_over,                  ///< Workers did not exit by themselves.
  failure_at_the_end,               ///< A checkpoint failed, and no report came after it.
  failure_to_be_told,               ///< A checkpoint failed after its report had returned.
  failure_told_by_the_next_report,  ///< The next report says that an earlier checkpoint failed.
  folder_lost,                      ///< The run's folder is gone, or another driver's.
  given_up,                         ///< A failure after which no attempt follows.
  group_ended_before_commit,        ///< A checkpoint was not stored when its group ended.
  grown,                            ///< An elastic group ends so that a larger one goes on.
  hang_ends_the_attempt,            ///< Others waited for longer than hang_fail_s.
  /// A tear-down hook took longer than that; the run's result stands.
  hang_in_teardown,
  journal_failed,            ///< run.json could not be written.
  line_made_good,            ///< A report's line was missing when the run was taken up.
  name_taken,                ///< A checkpoint's name is that of one that is being stored.
  node_lost,                 ///< A node went, with ranks that were needed.
  nodes_asked_for_again,     ///< The nodes of the last attempt are not all there any more.
  nodes_refused,             ///< There is no place for the workers.
  offers_conflict,           ///< The ranks' offers cannot be one checkpoint.
  preempted,                 ///< A node that is needed will be taken away.
  preempted_node_gone,       ///< It is gone, and nobody is to outlive it.
  preempted_survivors_done,  ///< It is gone, and those that outlived it are through.
  preemption_deadline,       ///< The deadline of a group that has to leave a node has passed.
  raised,                    ///< A training function raised.
  ranks_wait_for_callbacks,  ///< Ranks are further ahead of the callbacks than they may be.
  restart_at_once,           ///< A restart without a wait.
  /// A restart that waits, as groups die before their first report.
  restart_waits,
  setup_failed,              ///< A set-up hook raised.
  shrunk,                    ///< An elastic group continues with fewer workers.
  stopped_at_work,           ///< The user's conditions end the run in an attempt.
  stopped_between_attempts,  ///< They do when no process lives.
  storage_refused,           ///< The run's folder cannot be written.
  storage_not_shared,        ///< A rank does not see the directory that the driver has made.
  /// The ranks' own functions stored one checkpoint in two places.
  stored_under_two_names,
  /// The run's small files did not get to remote storage; the next sync brings them.
  sync_failed,
  taken_up,                       ///< A new driver resumes the run of one that is gone.
  terminate_grace_over,           ///< SIGTERM was not enough.
  too_many_asynchronous,          ///< A report waits, as too many checkpoints are under way.
  unmatched_report,               ///< A rank returned while others wait for it in a report.
  upload_of_a_rank_that_is_gone,  ///< An upload was to be ordered of a process that is gone.
  upload_refused,                 ///< A rank could not store its part.
  validation_again,               ///< A validation's process died, and is begun again.
  validation_died,                ///< One that died too often.
  validation_does_not_exit,       ///< A validation's process did not exit by itself.
  validation_failed,              ///< A validation function raised.
  validation_timeout              ///< One that took too long is stopped.
};
BOOST_DESCRIBE_ENUM(Mark, abort_before_storage, abort_of_a_group, abort_of_nobody, callback_failed, begin_refused,
                    checkpoint_dropped, commit_refused, copy_failed, copy_stopped, death, death_after_return,
                    death_while_uploading, deletion_failed, driver_ended, driver_preempted, driver_preempted_between,
                    driver_preempted_saved, echo_believed, echo_of_a_group_that_ended, echo_of_all, exit_grace_over,
                    failure_at_the_end, failure_to_be_told, failure_told_by_the_next_report, folder_lost, given_up,
                    group_ended_before_commit, grown, hang_ends_the_attempt, hang_in_teardown, journal_failed,
                    line_made_good, name_taken, node_lost, nodes_asked_for_again, nodes_refused, offers_conflict,
                    preempted, preempted_node_gone, preempted_survivors_done, preemption_deadline, raised,
                    ranks_wait_for_callbacks, restart_at_once, restart_waits, setup_failed, shrunk, stopped_at_work,
                    stopped_between_attempts, storage_refused, storage_not_shared, stored_under_two_names, sync_failed,
                    taken_up, terminate_grace_over, too_many_asynchronous, unmatched_report,
                    upload_of_a_rank_that_is_gone, upload_refused, validation_again, validation_died,
                    validation_does_not_exit, validation_failed, validation_timeout)

/// Who hears of each mark that is reached: nobody, unless the simulator set it before the first
/// controller was made.
inline void (*on_mark)(Mark) = nullptr;

inline void reach(Mark mark) {
  if (on_mark != nullptr) [[unlikely]]
    on_mark(mark);
}

}  // namespace headway::control

/// HEADWAY_MARK(name): this branch was reached.
#define HEADWAY_MARK(name) ::headway::control::reach(::headway::control::Mark::name)
