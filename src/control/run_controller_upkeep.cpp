#include "control/run_controller.hpp"

/// What is done beside training: old checkpoints go, and the end of a run waits for what is under way.
namespace headway::control {

void RunController::delete_old() {
  for (DeleteCheckpoint& command : deletions_.begin()) out_.push_back(std::move(command));
}

void RunController::on(const CheckpointDeleted& event) {
  if (auto warning = deletions_.end(event, state_ == RunState::closing)) out_.push_back(Warn{std::move(*warning)});
  write_last_journal();
}

void RunController::close_run() {
  const bool asked_for_nodes = state_ != RunState::created && state_ != RunState::preparing;
  state_ = RunState::closing;
  if (asked_for_nodes) out_.push_back(ReleaseNodes{});
  delete_old();
  write_last_journal();
}

/// Once nothing is under way any more that it should tell.
void RunController::write_last_journal() {
  if (state_ != RunState::closing || last_journal_ || deletions_.under_way()) return;
  last_journal_ = true;
  write_journal();
}

}  // namespace headway::control
