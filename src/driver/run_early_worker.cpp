#include "control/worker_group.hpp"
#include "driver/run.hpp"
#include "driver/runtime.hpp"

#include <csignal>

/// A worker that is started before its run has slots: it has nothing to do until its training
/// begins. Where the slots turn out to be others than it was started for, it is ended, and the rank
/// is started as any other.
namespace headway::driver {

/// Where it will have its slots is known where there is one node.
void Run::start_early(const control::AcquireNodes& wanted) {
  const bool is_alone = wanted.workers == 1 && local_sessions_.empty();
  if (!starts_early_ || early_ || attempt_ > 0 || !is_alone || !claims_cpus_alone(spec_.scaling)) return;
  const std::vector<node::NodeResources> nodes = runtime_->engine().nodes();
  if (nodes.size() != 1 || nodes.front().node_id != runtime_->node_id()) return;
  const auto slots = node::ResourceLedger(nodes.front()).claim(run_id_, 1, wanted.claim);
  if (!slots) return;
  early_ = EarlyWorker{
      runtime_->routes().add(weak_from_this()),
      {1, control::WorkerGroup::place(*slots, {}).plans(), spec_.resume_from_checkpoint, spec_.trial_id, ""}};
  const Result<void> started = start_process(early_->worker_id, early_->command, early_->command.plans.front(), "");
  if (!started) early_.reset();  // It is tried again, and said, once there are slots.
}

/// Whether it is the group that is to be started.
bool Run::take_early(const control::StartWorkers& command) {
  if (!early_) return false;
  const control::StartWorkers& known = early_->command;
  const bool fits = known.attempt == command.attempt && known.plans == command.plans &&
                    known.checkpoint == command.checkpoint && known.trial_id == command.trial_id;
  if (fits) {
    workers_.push_back({early_->worker_id, false, {}});
    if (early_->pid) post(control::WorkerReady{attempt_, 0, *early_->pid});
  } else {
    end_early();
  }
  early_.reset();
  return fits;
}

void Run::end_early() {
  if (early_) runtime_->nodes().signal_worker(early_->worker_id, SIGKILL);
}

}  // namespace headway::driver
