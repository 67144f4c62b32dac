#include "driver/guest.hpp"

#include "driver/runtime.hpp"

#include <csignal>

namespace headway::driver {

Guest::Guest(Runtime& runtime, wire::Fd fd, node::FactoryChoice factory, std::function<void()> left)
    : runtime_(&runtime),
      channel_(std::make_shared<wire::Channel>(runtime.loop(), std::move(fd), wire::messages_of<wire::ToHost>)),
      factory_(std::move(factory)),
      left_(std::move(left)) {}

void Guest::start() {
  // The channel is this guest's own: it must not keep it.
  const auto take_frame = [guest = weak_from_this()](wire::Frame frame) {
    const auto self = guest.lock();
    return self ? self->take(std::move(frame)) : Result<void>();
  };
  const auto leave_host = [guest = weak_from_this()](const std::optional<Error>&) {
    if (const auto self = guest.lock()) self->leave();
  };
  channel_->start(take_frame, leave_host);
  tell_resources();
}

void Guest::close() {
  gone_ = true;
  channel_->close();
}

Result<void> Guest::take(wire::Frame frame) {
  const Result<wire::ToHost> message = wire::from_frame<wire::ToHost>(frame);
  if (!message) return message.error();
  if (auto sound = wire::check_message(*message); !sound) return sound;
  if (const auto* order = std::get_if<wire::GuestSpawn>(&*message)) {
    if (frame.fds.size() != 2) return Error{ErrorKind::corrupted, "a GuestSpawn without its two descriptors"};
    spawn(*order, {std::move(frame.fds[0]), std::move(frame.fds[1])});
    return {};
  }
  std::visit(
      [this](const auto& what) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(what)>, wire::GuestSpawn>) on(what);
      },
      *message);
  return {};
}

void Guest::on(const wire::GuestWarm& message) {
  if (factory_.is_nodes_own()) runtime_->nodes().warm(message.preload);
}

void Guest::spawn(const wire::GuestSpawn& message, node::WorkerEnds ends) {
  const std::int64_t id = runtime_->routes().add(weak_from_this());
  workers_[message.worker_id] = id;
  node::LentWorker worker;
  worker.worker_id = id;
  worker.preload = message.preload;
  worker.env = message.env;
  worker.factory = factory_;
  worker.ends = std::move(ends);
  worker.spawned = [self = shared_from_this(), theirs = message.worker_id](std::int64_t pid) {
    self->channel_->send(wire::to_frame(wire::HostSpawned{theirs, pid}));
  };
  const Result<void> lent = runtime_->nodes().lend(runtime_->node_id(), std::move(worker));
  if (lent) return;
  runtime_->routes().remove(id);
  worker_ended(message.worker_id, {false, 127, "could not be started: " + lent.error().message});
}

void Guest::worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string&) {
  const auto self = shared_from_this();  // `left_` may let go of it.
  for (const auto& [theirs, ours] : workers_) {
    if (ours != worker_id) continue;
    worker_ended(theirs, status);
    return;
  }
}

void Guest::worker_ended(std::int64_t theirs, const ExitStatus& status) {
  workers_.erase(theirs);
  channel_->send(wire::to_frame(wire::HostEnded{theirs, status}));
  if (gone_ && workers_.empty() && left_) std::exchange(left_, nullptr)();
}

void Guest::on(const wire::GuestSignal& message) {
  const auto worker = workers_.find(message.worker_id);
  if (worker != workers_.end()) runtime_->nodes().signal_worker(worker->second, message.signal);
}

void Guest::on(const wire::GuestAcquire& message) {
  // Runs claim under their own numbers, which are positive; helpers under those of their workers,
  // too.
  const std::int64_t holder = -runtime_->routes().number();
  holders_[message.holder] = holder;
  engine::Wanted wanted{message.workers_min,
                        message.workers_max,
                        {message.hard, message.advised_cpus, message.selectors},
                        engine::to_placement(message.placement),
                        message.beside};
  // Whoever has a guest waits for it, and holds something meanwhile: behind somebody who waits for
  // that, both would wait for ever.
  wanted.ahead = true;
  wanted.node_id = runtime_->node_id();  // Descriptors do not get to other machines.
  const auto granted = [weak = weak_from_this(), theirs = message.holder](const Result<engine::Grant>& grant) {
    if (const auto self = weak.lock()) self->answer(theirs, grant);
  };
  const auto pending = [weak = weak_from_this(), theirs = message.holder](const std::string& reason) {
    if (const auto self = weak.lock()) self->channel_->send(wire::to_frame(wire::HostPending{theirs, reason}));
  };
  runtime_->engine().acquire(holder, wanted, {granted, pending});
}

void Guest::answer(std::int64_t holder, const Result<engine::Grant>& grant) {
  if (grant) {
    channel_->send(wire::to_frame(wire::HostGranted{holder, grant->slots, grant->warnings}));
  } else {
    channel_->send(wire::to_frame(wire::HostRefused{holder, grant.error().message}));
  }
  tell_resources();
}

void Guest::on(const wire::GuestRelease& message) {
  const auto holder = holders_.extract(message.holder);
  if (!holder.empty()) runtime_->engine().release(holder.mapped());
  tell_resources();
}

void Guest::tell_resources() {
  channel_->send(wire::to_frame(
      wire::HostResources{runtime_->node_id(), runtime_->engine().total(), runtime_->engine().available()}));
}

void Guest::leave() {
  if (std::exchange(gone_, true)) return;
  for (const auto& [theirs, ours] : workers_) runtime_->nodes().signal_worker(ours, SIGKILL);
  for (const auto& [theirs, ours] : std::exchange(holders_, {})) runtime_->engine().release(ours);
  if (workers_.empty() && left_) std::exchange(left_, nullptr)();
}

}  // namespace headway::driver
