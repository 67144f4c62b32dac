#include "driver/artifact_carriers.hpp"

#include <utility>

namespace headway::driver {

void ArtifactCarriers::bring(const wire::StartSession& start, const std::weak_ptr<void>& run, Done done) {
  ++number_;
  awaited_.clear();
  first_error_.reset();
  if (places_.empty()) {
    done(std::nullopt);
    return;
  }
  done_ = std::move(done);
  for (const auto& [node_id, slot] : places_) awaited_.insert(node_id);
  // A copy: the last answer may come within, and end it all.
  for (const auto& [node_id, slot] : std::map(places_)) {
    HelperProcess* process = process_on(node_id);
    if (process == nullptr) {
      begin(slot, start, run);
    } else if (process->ready()) {
      process->send(wire::to_frame(wire::BringArtifacts{number_}));
    }
  }
}

void ArtifactCarriers::begin(const Slot& slot, const wire::StartSession& start, const std::weak_ptr<void>& run) {
  HelperPlan plan{"artifact carrier of " + slot.hostname, launch_, start, slot};
  // Beside the ranks, it has one thread and no GPU.
  Slot& own = std::get<Slot>(plan.place);
  own.cpus = 1;
  own.gpu_ids.clear();
  const std::int64_t number = carriers_begun_++;
  HelperProcess::Handlers handlers;
  handlers.ready = [this, number] {
    carriers_.at(number).process->send(wire::to_frame(wire::BringArtifacts{number_}));
  };
  handlers.message = [this, node_id = slot.node_id](const wire::FromWorker& message) {
    const auto* brought = std::get_if<wire::ArtifactsBrought>(&message);
    if (brought != nullptr && brought->number == number_) answered(node_id, brought->error);
  };
  handlers.ended = [this, number](const HelperEnd& end) { ended(number, end); };
  const auto process = std::make_shared<HelperProcess>(services_, run, std::move(plan), std::move(handlers));
  carriers_[number] = {slot.node_id, process};
  process->begin();
}

HelperProcess* ArtifactCarriers::process_on(const std::string& node_id) const {
  for (const auto& [number, carrier] : carriers_) {
    if (carrier.node_id == node_id && !carrier.leaving) return carrier.process.get();
  }
  return nullptr;
}

void ArtifactCarriers::ended(std::int64_t number, const HelperEnd& end) {
  const std::string node_id = carriers_.extract(number).mapped().node_id;
  if (!awaited_.contains(node_id)) return;
  answered(node_id, "the process that brings it " + to_text(end.status) +
                        (end.log_tail.empty() ? "" : "; it said: " + end.log_tail));
}

void ArtifactCarriers::answered(const std::string& node_id, const std::optional<std::string>& error) {
  awaited_.erase(node_id);
  if (error && !first_error_) first_error_ = "that of " + places_.at(node_id).hostname + ": " + *error;
  if (awaited_.empty() && done_) std::exchange(done_, nullptr)(first_error_);
}

void ArtifactCarriers::stop() {
  // A copy: the end of one that had not begun comes at once.
  for (const auto& [number, carrier] : std::map(carriers_)) {
    if (!awaited_.contains(carrier.node_id)) continue;
    if (carrier.process->ready()) {
      carrier.process->send(wire::to_frame(wire::StopBringing{}));
    } else {
      carrier.process->end(control::EndMode::kill);
    }
  }
}

void ArtifactCarriers::leave(bool synced) {
  for (auto& [number, carrier] : carriers_) {
    carrier.leaving = true;
    if (synced) carrier.process->send(wire::to_frame(wire::RemoveWorkingDirectory{}));
    carrier.process->send(wire::to_frame(wire::EndSession{}));
  }
  places_.clear();
  awaited_.clear();
  done_ = nullptr;
}

}  // namespace headway::driver
