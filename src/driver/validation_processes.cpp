#include "driver/validation_processes.hpp"

#include "driver/run.hpp"
#include "driver/runtime.hpp"

#include <csignal>

namespace headway::driver {
namespace {

/// Runs claim by their own numbers, which are positive.
std::int64_t holder_of(std::int64_t worker_id) { return -worker_id; }  // Guests take theirs of the same numbers.

}  // namespace

void ValidationProcesses::start(const control::StartValidation& command, const std::weak_ptr<Run>& run,
                                std::int64_t run_id) {
  const std::int64_t id = runtime_->add_worker(run);
  processes_[id].order = command;
  const auto granted = [run, id](const Result<engine::Grant>& grant) {
    const auto self = run.lock();
    if (self) self->validation_granted(id, grant ? Result<Slot>(grant->slots.front()) : Result<Slot>(grant.error()));
  };
  const auto pending = [run, checkpoint = command.checkpoint](const std::string& reason) {
    if (const auto self = run.lock()) self->notify("the validation of " + checkpoint + " waits: " + reason);
  };
  engine::Wanted wanted{1, 1, command.claim, engine::Placement::pack};
  wanted.validates = run_id;
  runtime_->engine().acquire(holder_of(id), wanted, {granted, pending});
}

void ValidationProcesses::granted(std::int64_t worker_id, const Result<Slot>& slot) {
  Process& process = processes_.at(worker_id);
  const std::int64_t number = process.order.number;
  const Result<void> launched = slot ? launch(worker_id, process, *slot) : Result<void>(slot.error());
  if (launched) return;
  if (!slot) tell_(control::ValidationFailed{number, {to_string(slot.error().kind), slot.error().message, "", false}});
  exited(worker_id, {false, 127, "could not be started: " + launched.error().message}, "");
}

Result<void> ValidationProcesses::launch(std::int64_t worker_id, Process& process, Slot slot) {
  const control::StartValidation& order = process.order;
  // Beside the training, it gets the threads that it asked for.
  if (!order.claim.hard.contains("CPU")) slot.cpus = 1;
  node::WorkerLaunch launch;
  launch.worker_id = worker_id;
  launch.preload = common_.spec.preload;
  launch.factory = common_.factory;
  std::string& gpus = launch.env["CUDA_VISIBLE_DEVICES"];
  for (const std::string& id : slot.gpu_ids) gpus += (gpus.empty() ? "" : ",") + id;
  if (common_.spec.log_to_file) launch.log_path = common_.folder->validation_log_path(order.checkpoint);
  wire::StartSession start;
  const std::string node_id = slot.node_id;
  start.plan.slot = std::move(slot);
  start.run_name = common_.spec.run.name;
  start.run_directory = common_.folder->path();
  start.trial_id = common_.spec.trial_id;
  start.enter_working_directory = false;
  start.metadata = common_.spec.metadata;
  start.resources = order.claim.hard;
  start.resources.emplace("CPU", 1);  // The implied one.
  start.setup = common_.setup;
  start.validation = wire::ValidationOrder{common_.folder->checkpoint_path(order.checkpoint), order.task.arguments,
                                           order.task.call.has_value()};
  process.launched = true;
  return runtime_->nodes().start_worker(node_id, launch, wire::to_frame(start));
}

wire::Blob ValidationProcesses::function_of(const control::StartValidation& order) const {
  return order.task.call ? std::make_shared<const std::string>(*order.task.call) : common_.function;
}

void ValidationProcesses::end(const control::EndValidation& command) {
  for (auto& [id, process] : processes_) {
    if (process.order.number != command.number) continue;
    if (!process.launched) {
      exited(id, {true, SIGKILL, "it had not begun"}, "");
    } else if (command.mode == control::EndMode::graceful) {
      runtime_->nodes().send(id, wire::to_frame(wire::EndSession{}));
    } else {
      runtime_->nodes().signal_worker(id, command.mode == control::EndMode::kill ? SIGKILL : SIGTERM);
    }
    return;
  }
}

void ValidationProcesses::message(std::int64_t worker_id, const wire::FromWorker& message) {
  const control::StartValidation& order = processes_.at(worker_id).order;
  if (std::holds_alternative<wire::SessionReady>(message)) {
    runtime_->nodes().send(worker_id, wire::to_frame(wire::Train{}, function_of(order)));
    tell_(control::ValidationStarted{order.number});
  } else if (const auto* validated = std::get_if<wire::Validated>(&message)) {
    tell_(control::ValidationFinished{order.number, validated->metrics});
  } else if (const auto* raised = std::get_if<wire::TrainingRaised>(&message)) {
    tell_(control::ValidationFailed{order.number, raised->error});
  }
}

void ValidationProcesses::exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  const auto process = processes_.extract(worker_id);
  runtime_->engine().release(holder_of(worker_id));
  tell_(control::ValidationExited{process.mapped().order.number, status, log_tail});
}

bool ValidationProcesses::line(std::int64_t worker_id, std::string_view line) {
  return front_->push_line("validation of " + processes_.at(worker_id).order.checkpoint, line);
}

}  // namespace headway::driver
