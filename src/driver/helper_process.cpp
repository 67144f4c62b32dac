#include "driver/helper_process.hpp"

#include <csignal>
#include <utility>

namespace headway::driver {

HelperProcess::HelperProcess(HelperServices services, std::weak_ptr<void> owner, HelperPlan plan, Handlers handlers)
    : services_(std::move(services)),
      owner_(std::move(owner)),
      plan_(std::move(plan)),
      handlers_(std::move(handlers)) {}

void HelperProcess::begin() {
  worker_id_ = services_.routes->add(weak_from_this());
  if (const Slot* slot = std::get_if<Slot>(&plan_.place)) {
    launch(*slot);
    return;
  }
  const auto granted = [weak = weak_from_this()](const Result<engine::Grant>& grant) {
    if (const auto self = weak.lock()) self->granted(grant);
  };
  const auto pending = [weak = weak_from_this()](const std::string& reason) {
    const auto self = weak.lock();
    const auto owner = self ? self->owner_.lock() : nullptr;
    if (owner && self->handlers_.waiting) self->handlers_.waiting(reason);
  };
  services_.engine->acquire(holder(), std::get<engine::Wanted>(plan_.place), {granted, pending});
}

void HelperProcess::granted(const Result<engine::Grant>& grant) {
  if (over_) return;
  if (!grant) {
    finish({{false, 127, "could not be started: " + grant.error().message}, "", grant.error()});
    return;
  }
  Slot slot = grant->slots.front();
  // Beside the training, it gets the threads that it asked for.
  if (!std::get<engine::Wanted>(plan_.place).claim.hard.contains("CPU")) slot.cpus = 1;
  launch(std::move(slot));
}

void HelperProcess::launch(Slot slot) {
  plan_.launch.worker_id = worker_id_;
  std::string& gpus = plan_.launch.env["CUDA_VISIBLE_DEVICES"];
  for (const std::string& id : slot.gpu_ids) gpus += (gpus.empty() ? "" : ",") + id;
  const std::string node_id = slot.node_id;
  plan_.start.plan.slot = std::move(slot);
  plan_.start.peer_token = services_.peer_token;
  launched_ = true;
  const Result<void> started = services_.nodes->start_worker(node_id, plan_.launch, wire::to_frame(plan_.start));
  if (!started) finish({{false, 127, "could not be started: " + started.error().message}, ""});
}

void HelperProcess::send(wire::Frame frame) { services_.nodes->send(worker_id_, std::move(frame)); }

void HelperProcess::end(control::EndMode mode) {
  if (over_) return;
  if (!launched_) {
    finish({{true, SIGKILL, "it had not begun"}, ""});
  } else if (mode == control::EndMode::graceful) {
    send(wire::to_frame(wire::EndSession{}));
  } else {
    services_.nodes->signal_worker(worker_id_, mode == control::EndMode::kill ? SIGKILL : SIGTERM);
  }
}

Result<void> HelperProcess::worker_message(std::int64_t, wire::Frame frame) {
  const auto owner = owner_.lock();
  const Result<wire::FromWorker> message = wire::from_frame<wire::FromWorker>(frame);
  if (!message) return message.error();
  if (std::holds_alternative<wire::OpenRuntime>(*message)) {
    // Without a descriptor it is on another node.
    if (owner && frame.fds.size() == 1) services_.take_guest(std::move(frame.fds.front()), plan_.launch.factory);
    return {};
  }
  if (!owner || over_) return {};
  if (std::holds_alternative<wire::SessionReady>(*message)) {
    ready_ = true;
    if (handlers_.ready) handlers_.ready();
  } else if (handlers_.message) {
    handlers_.message(*message);
  }
  return {};
}

void HelperProcess::worker_exited(std::int64_t, const ExitStatus& status, const std::string& log_tail) {
  finish({status, log_tail});
}

bool HelperProcess::worker_line(std::int64_t, std::string_view line) {
  if (line.ends_with('\r')) return true;  // Of its lines only whole ones are shown.
  const auto owner = owner_.lock();
  return !owner || !handlers_.line || handlers_.line(line);
}

void HelperProcess::finish(HelperEnd end) {
  const auto self = shared_from_this();  // `ended` may let go of it.
  if (std::exchange(over_, true)) return;
  services_.routes->remove(worker_id_);
  if (std::holds_alternative<engine::Wanted>(plan_.place)) services_.engine->release(holder());
  if (const auto owner = owner_.lock(); owner && handlers_.ended) handlers_.ended(end);
}

}  // namespace headway::driver
