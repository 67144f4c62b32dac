#include "driver/artifact_carriers.hpp"

#include "driver/run.hpp"
#include "driver/runtime.hpp"

#include <csignal>

namespace headway::driver {

void ArtifactCarriers::note(const Slot& slot) {
  if (slot.node_id != runtime_->node_id() && slot.node_id != guests_node) places_.insert_or_assign(slot.node_id, slot);
}

void ArtifactCarriers::bring(const wire::StartSession& start, const std::weak_ptr<Run>& run, Done done) {
  ++number_;
  awaited_.clear();
  first_error_.reset();
  if (places_.empty()) {
    done(std::nullopt);
    return;
  }
  done_ = std::move(done);
  for (const auto& [node_id, slot] : places_) awaited_.insert(node_id);
  for (const auto& [node_id, slot] : places_) bring_from(slot, start, run);
}

void ArtifactCarriers::bring_from(const Slot& slot, wire::StartSession start, const std::weak_ptr<Run>& run) {
  if (const auto known = process_on(slot.node_id)) {
    send(*known);
    return;
  }
  node::WorkerLaunch launch;
  launch.worker_id = runtime_->add_worker(run);
  launch.preload = preload_;
  launch.factory = factory_;
  launch.env["CUDA_VISIBLE_DEVICES"] = "";
  start.plan.slot = slot;
  start.plan.slot.cpus = 1;
  start.enter_working_directory = false;
  start.carries_artifacts = true;
  processes_[launch.worker_id] = {slot};
  const auto started = runtime_->nodes().start_worker(slot.node_id, launch, wire::to_frame(start));
  if (!started) exited(launch.worker_id, {false, 127, "could not be started: " + started.error().message}, "");
}

std::optional<std::int64_t> ArtifactCarriers::process_on(const std::string& node_id) const {
  for (const auto& [worker_id, process] : processes_) {
    if (process.slot.node_id == node_id && !process.leaving) return worker_id;
  }
  return std::nullopt;
}

void ArtifactCarriers::send(std::int64_t worker_id) {
  if (processes_.at(worker_id).ready) runtime_->nodes().send(worker_id, wire::to_frame(wire::BringArtifacts{number_}));
}

void ArtifactCarriers::message(std::int64_t worker_id, const wire::FromWorker& message) {
  Process& process = processes_.at(worker_id);
  if (std::holds_alternative<wire::SessionReady>(message)) {
    process.ready = true;
    send(worker_id);
  } else if (const auto* brought = std::get_if<wire::ArtifactsBrought>(&message)) {
    if (brought->number == number_) answered(process.slot.node_id, brought->error);
  }
}

void ArtifactCarriers::exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  const Process process = processes_.extract(worker_id).mapped();
  if (!awaited_.contains(process.slot.node_id)) return;
  answered(process.slot.node_id,
           "the process that brings it " + to_text(status) + (log_tail.empty() ? "" : "; it said: " + log_tail));
}

void ArtifactCarriers::answered(const std::string& node_id, const std::optional<std::string>& error) {
  awaited_.erase(node_id);
  if (error && !first_error_) first_error_ = "that of " + places_.at(node_id).hostname + ": " + *error;
  if (awaited_.empty() && done_) std::exchange(done_, nullptr)(first_error_);
}

void ArtifactCarriers::stop() {
  for (auto& [worker_id, process] : processes_) {
    if (!awaited_.contains(process.slot.node_id)) continue;
    if (process.ready) {
      runtime_->nodes().send(worker_id, wire::to_frame(wire::StopBringing{}));
    } else {
      runtime_->nodes().signal_worker(worker_id, SIGKILL);
    }
  }
}

void ArtifactCarriers::leave(bool synced) {
  for (auto& [worker_id, process] : processes_) {
    process.leaving = true;
    if (synced) runtime_->nodes().send(worker_id, wire::to_frame(wire::RemoveWorkingDirectory{}));
    runtime_->nodes().send(worker_id, wire::to_frame(wire::EndSession{}));
  }
  places_.clear();
  awaited_.clear();
  done_ = nullptr;
}

}  // namespace headway::driver
