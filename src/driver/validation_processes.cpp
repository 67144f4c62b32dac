#include "driver/validation_processes.hpp"

namespace headway::driver {

void ValidationProcesses::start(const control::StartValidation& command, const std::weak_ptr<void>& run,
                                std::int64_t run_id) {
  const auto process = std::make_shared<HelperProcess>(services_, run, plan(command, run_id), handlers(command));
  processes_[command.number] = process;
  process->begin();
}

HelperPlan ValidationProcesses::plan(const control::StartValidation& order, std::int64_t run_id) const {
  HelperPlan plan;
  plan.name = "validation of " + order.checkpoint;
  plan.launch.preload = common_.spec.preload;
  plan.launch.factory = common_.factory;
  plan.launch.scratch = std::to_string(run_id) + ".v" + std::to_string(order.number);
  if (common_.spec.log_to_file) plan.launch.log_path = common_.folder->validation_log_path(order.checkpoint);
  plan.start.run_name = common_.spec.run.name;
  plan.start.run_directory = common_.folder->path();
  plan.start.trial_id = common_.spec.trial_id;
  plan.start.metadata = common_.spec.metadata;
  plan.start.resources = order.claim.hard;
  plan.start.resources.emplace("CPU", 1);  // The implied one.
  plan.start.setup = common_.setup;
  plan.start.role = wire::role_json(wire::ValidationRole{common_.folder->checkpoint_path(order.checkpoint),
                                                         order.task.arguments, order.task.call.has_value()});
  engine::Wanted wanted{1, 1, order.claim, engine::Placement::pack};
  wanted.validates = run_id;
  plan.place = wanted;
  return plan;
}

HelperProcess::Handlers ValidationProcesses::handlers(const control::StartValidation& order) {
  const std::string name = "validation of " + order.checkpoint;
  const std::int64_t number = order.number;
  HelperProcess::Handlers handlers;
  handlers.waiting = [this, name](const std::string& reason) {
    front_->push(Notice{"the " + name + " waits: " + reason});
  };
  handlers.ready = [this, number, function = function_of(order)] {
    processes_.at(number)->send(wire::to_frame(wire::Train{}, function));
    tell_(control::ValidationStarted{number});
  };
  handlers.message = [this, number](const wire::FromWorker& message) { take(number, message); };
  handlers.line = [this, name](std::string_view line) { return front_->push_line(name, line); };
  handlers.ended = [this, number](const HelperEnd& end) { ended(number, end); };
  return handlers;
}

void ValidationProcesses::kill_all() {
  // A copy: one that had not begun has ended at once.
  for (const auto& [number, process] : std::map(processes_)) process->end(control::EndMode::kill);
}

wire::Blob ValidationProcesses::function_of(const control::StartValidation& order) const {
  return order.task.call ? std::make_shared<const std::string>(*order.task.call) : common_.function;
}

void ValidationProcesses::take(std::int64_t number, const wire::FromWorker& message) {
  if (const auto* validated = std::get_if<wire::Validated>(&message)) {
    tell_(control::ValidationFinished{number, validated->metrics});
  } else if (const auto* raised = std::get_if<wire::TrainingRaised>(&message)) {
    tell_(control::ValidationFailed{number, raised->error});
  }
}

void ValidationProcesses::ended(std::int64_t number, const HelperEnd& end) {
  if (end.refused) {
    tell_(control::ValidationFailed{number, {to_string(end.refused->kind), end.refused->message, "", false}});
  }
  tell_(control::ValidationExited{number, end.status, end.log_tail});
  processes_.erase(number);
}

void ValidationProcesses::end(const control::EndValidation& command) {
  if (const auto process = processes_.find(command.number); process != processes_.end()) {
    process->second->end(command.mode);
  }
}

}  // namespace headway::driver
