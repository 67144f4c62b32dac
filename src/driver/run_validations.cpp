#include "driver/run.hpp"
#include "driver/runtime.hpp"

/// How the commands about validations are carried out, and what ranks hear of checkpoints.
namespace headway::driver {

void Run::carry_out(const control::StartValidation& command) { validations_.start(command, weak_from_this(), run_id_); }

void Run::carry_out(const control::EndValidation& command) { validations_.end(command); }

void Run::carry_out(const control::TellCheckpoints& command) {
  wire::CheckpointsTold told{command.question, {}};
  for (const control::KeptCheckpoint& kept : command.checkpoints) {
    told.checkpoints.push_back(
        {folder_->checkpoint_path(kept.name), kept.metrics, kept.status.value_or(CheckpointStatus::COMMITTED)});
  }
  send_to(command.attempt, command.rank, wire::to_frame(told));
}

void Run::on_message(int rank, const wire::AskCheckpoints& message, const wire::Blob&) {
  handle(control::CheckpointsAsked{attempt_, rank, message.question, message.reports, message.validated,
                                   message.timeout_s});
}

}  // namespace headway::driver
