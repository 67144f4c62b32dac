#include "cluster/agent_process.hpp"

#include "core/json.hpp"
#include "core/may_block.hpp"
#include "core/time.hpp"

#include <csignal>
#include <cstdio>

namespace headway::cluster {

namespace asio = boost::asio;

namespace {

constexpr auto connect_limit = std::chrono::seconds(15);
/// How long the ranks' ends, and the farewell, may take.
constexpr auto farewell_limit = std::chrono::seconds(2);

void say(const std::string& text) { std::fprintf(stderr, "headway-agent: %s\n", text.c_str()); }

std::string seconds_text(double seconds) { return number_text(seconds) + " s"; }

}  // namespace

AgentProcess::End AgentProcess::run(AgentProcessConfig config) {
  asio::io_context loop(1);
  const Endpoint driver = config.driver;
  World world;
  world.make_agent = [&loop, factory = config.factory](node::AgentSink& sink) {
    return std::make_unique<node::Agent>(loop, factory, sink);
  };
  AgentProcess host(loop, std::move(config), std::move(world));
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  const std::function<void()> await_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& failure, int signal) {
      if (failure) return;
      host.signaled(signal);
      await_signal();
    });
  };
  await_signal();
  connect(loop, driver.host, driver.port, connect_limit, wire::messages_of<ToAgent>,
          [&host](Result<std::shared_ptr<SecureChannel>> channel) { host.joined(std::move(channel)); });
  const EventLoopThread here;
  loop.run();
  return *host.ended();
}

AgentProcess::AgentProcess(asio::io_context& loop, AgentProcessConfig config, World world)
    : loop_(loop),
      config_(std::move(config)),
      world_(std::move(world)),
      renewal_(loop_),
      expiry_(loop_),
      departure_(loop_),
      packages_(loop_, config_.recipes.packages_folder,
                [this](const std::string& hash) { channel_->send(wire::to_frame(NeedPackage{hash})); }) {}

AgentProcess::~AgentProcess() {
  if (channel_) channel_->hand_over(nullptr, nullptr);
}

void AgentProcess::wait_for(asio::steady_timer& timer, std::function<void()> action) {
  timer.async_wait(
      [here = std::weak_ptr(alive_), action = std::move(action)](const boost::system::error_code& failure) {
        if (!failure && here.lock()) action();
      });
}

void AgentProcess::end(End how, const std::string& words) {
  if (end_) return;
  end_ = how;
  say(words);
  for (asio::steady_timer* timer : {&renewal_, &expiry_, &departure_}) timer->cancel();
  // The driver may start workers elsewhere as soon as it hears the farewell.
  if (agent_) {
    agent_->close([this] { farewell(); });
  } else {
    farewell();
  }
}

void AgentProcess::farewell() {
  const End how = *end_;
  if (channel_) {
    channel_->hand_over(nullptr, [&loop = loop_](const std::optional<Error>&) { loop.stop(); });
    if (how == End::left || how == End::dismissed) channel_->send(wire::to_frame(Leaving{}));
    channel_->finish();
  }
  // Should the farewell find nobody who takes it.
  departure_.expires_after(farewell_limit);
  wait_for(departure_, [this] { loop_.stop(); });
  if (!channel_ || how == End::lost) loop_.stop();
}

void AgentProcess::joined(Result<std::shared_ptr<SecureChannel>> channel) {
  if (end_) return;
  if (!channel) {
    end(End::refused, channel.error().message);
    return;
  }
  channel_ = std::move(*channel);
  channel_->on_drained([this] {
    if (agent_ && !paused_) agent_->resume_output();
  });
  channel_->start([this](const wire::Frame& frame) { return on_frame(frame); },
                  [this](const std::optional<Error>& error) {
                    const std::string why = error ? " (" + error->message + ")" : "";
                    end(agent_ ? End::lost : End::refused, "the driver is gone" + why + "; its workers here are ended");
                  });
  channel_->send(
      wire::to_frame(Join{HEADWAY_VERSION, proof_of(config_.token, "agent", channel_->binding()), config_.node.hostname,
                          config_.node.total, config_.node.gpu_ids, config_.node.labels}));
}

Result<void> AgentProcess::on_frame(const wire::Frame& frame) {
  if (end_) return {};
  // This process may have been stopped: what has arrived meanwhile comes too late.
  if (agent_ && world_.now() >= lease_end_) {
    lease_is_over();
    return {};
  }
  Result<ToAgent> message = wire::from_frame<ToAgent>(frame);
  if (!message) return message.error();
  const bool greeting = std::holds_alternative<Welcome>(*message) || std::holds_alternative<Refused>(*message);
  if (!agent_ != greeting) {
    end(agent_ ? End::lost : End::refused, "what is at " + config_.driver.host + " does not speak as a driver does");
    return {};
  }
  return std::visit(
      [&](const auto& what) {
        auto sound = check_message(what);
        if (sound) on(what, frame.blob);
        return sound;
      },
      *message);
}

void AgentProcess::on(const Welcome& message, const wire::Blob&) {
  if (!is_same_proof(message.proof, proof_of(config_.token, "driver", channel_->binding()))) {
    end(End::refused, "what is at " + config_.driver.host + " does not have the token: it is not asked for anything");
    return;
  }
  channel_->trust();
  agent_ = world_.make_agent(*this);
  lease_ = std::chrono::duration_cast<node::LeaseTime>(std::chrono::duration<double>(message.lease_s));
  lease_end_ = world_.now() + lease_;
  agent_->hold_until(lease_end_);
  say("joined " + config_.driver.host + ":" + std::to_string(config_.driver.port) + " as " + message.node_id +
      " with " + resources_text(config_.node.total));
  ask_lease();
  watch_lease();
  use_seen();
}

void AgentProcess::on(const Refused& message, const wire::Blob&) {
  end(End::refused, "the driver refused: " + message.reason);
}

/// Four times in a lease. The lease counts from the asking: however long the answer took, the
/// driver's own count ends later. Asking and granting go ahead of all else: much output over a slow
/// link costs no lease.
void AgentProcess::ask_lease() {
  const std::int64_t number = ++leases_asked_;
  asked_[number] = world_.now();
  channel_->send_ahead(wire::to_frame(AskLease{number}));
  renewal_.expires_after(lease_ / 4);
  wait_for(renewal_, [this] { ask_lease(); });
}

void AgentProcess::on(const GrantLease& message, const wire::Blob&) {
  const auto asked = asked_.find(message.number);
  if (asked == asked_.end()) return;
  lease_end_ = std::max(lease_end_, asked->second + lease_);
  asked_.erase(asked_.begin(), std::next(asked));
  agent_->hold_until(lease_end_);
  watch_lease();
}

void AgentProcess::watch_lease() {
  expiry_.expires_after(lease_end_ - world_.now());
  wait_for(expiry_, [this] { lease_is_over(); });
}

void AgentProcess::lease_is_over() {
  end(End::lost, "the driver has not answered for " + seconds_text(std::chrono::duration<double>(lease_).count()) +
                     ", so the workers here are ended: it may start them elsewhere");
}

void AgentProcess::signaled(int signal) {
  if (end_) return;
  if (signal == SIGTERM && agent_ && !leaving_) {
    leave();
  } else {
    end(End::left, signal == SIGTERM ? "it received SIGTERM" : "interrupted");
  }
}

/// The machine will be taken away: the driver hears of it, and has the notice period to move the
/// ranks.
void AgentProcess::leave() {
  leaving_ = true;
  say("told to leave (SIGTERM): ranks have " + seconds_text(config_.grace_s));
  channel_->send(wire::to_frame(Preempting{config_.grace_s}));
  departure_.expires_after(from_seconds(config_.grace_s));
  wait_for(departure_, [this] { end(End::left, "the notice period has passed"); });
}

void AgentProcess::on(const WarmFactory& message, const wire::Blob&) { (void)agent_->warm(message.preload); }

void AgentProcess::on(const StartWorker& message, const wire::Blob& blob) {
  Result<wire::Frame> first = inner_frame(message.json_size, blob);
  if (!first) return worker_exited(message.launch.worker_id, {false, 127, first.error().message}, "");
  if (message.launch.factory.recipe.empty()) {
    start(message.launch, std::move(*first));
  } else {
    start_by_recipe(message.launch, std::move(*first));
  }
}

void AgentProcess::start(const node::WorkerLaunch& launch, wire::Frame first) {
  const auto started = agent_->start_worker(launch, std::move(first));
  if (!started) worker_exited(launch.worker_id, {false, 127, started.error().message}, "");
}

/// As soon as the packages are here that its environment is made of.
void AgentProcess::start_by_recipe(node::WorkerLaunch launch, wire::Frame first) {
  const std::int64_t id = launch.worker_id;
  std::vector<std::string> hashes;
  for (const node::Package& package : launch.factory.packages) hashes.push_back(package.hash);
  held_[id];
  launch.factory.command = config_.recipes.command;
  launch.factory.command.push_back(std::exchange(launch.factory.recipe, ""));
  packages_.need(id, hashes,
                 [this, launch = std::make_shared<node::WorkerLaunch>(std::move(launch)),
                  first = std::make_shared<wire::Frame>(std::move(first))](
                     const Result<std::map<std::string, std::string>>& paths) {
                   if (end_) return;
                   const auto orders = held_.extract(launch->worker_id);
                   if (!paths) {
                     worker_exited(launch->worker_id, {false, 127, paths.error().message}, "");
                     return;
                   }
                   launch->new_factory_env[RecipeConfig::arrived_variable] = json_text(to_json(*paths));
                   start(*launch, std::move(*first));
                   for (const auto& order : orders.mapped()) order();
                 });
}

/// Whether the worker waits for packages; then `order` is carried out behind its start.
bool AgentProcess::wait_for_start(std::int64_t worker_id, std::function<void()> order) {
  const auto held = held_.find(worker_id);
  if (held == held_.end()) return false;
  held->second.push_back(std::move(order));
  return true;
}

void AgentProcess::on(const PackageBytes& message, const wire::Blob& blob) { packages_.arrived(message.hash, blob); }

void AgentProcess::on(const TellWorker& message, const wire::Blob& blob) {
  if (wait_for_start(message.worker_id, [this, message, blob] { on(message, blob); })) return;
  Result<wire::Frame> inner = inner_frame(message.json_size, blob);
  if (inner) {
    agent_->send(message.worker_id, std::move(*inner));
  } else {
    agent_->signal_worker(message.worker_id, SIGKILL);
  }
}

void AgentProcess::on(const SignalWorker& message, const wire::Blob& blob) {
  if (message.signal == SIGKILL && held_.erase(message.worker_id) > 0) {
    return worker_exited(message.worker_id, {true, SIGKILL, "it had not been started yet"}, "");
  }
  if (wait_for_start(message.worker_id, [this, message, blob] { on(message, blob); })) return;
  agent_->signal_worker(message.worker_id, message.signal);
}

void AgentProcess::on(const PauseOutput&, const wire::Blob&) { paused_ = true; }

void AgentProcess::on(const ResumeOutput&, const wire::Blob&) {
  paused_ = false;
  agent_->resume_output();
}

void AgentProcess::on(const ExamineWorker& message, const wire::Blob& blob) {
  if (wait_for_start(message.worker_id, [this, message, blob] { on(message, blob); })) return;
  agent_->examine(message.worker_id,
                  [this, here = std::weak_ptr(alive_), number = message.number](const ProcessSeen& seen) {
                    if (!here.lock()) return;
                    channel_->send(wire::to_frame(WorkerExamined{number, seen.pid, seen.cpu_s, seen.importing},
                                                  std::make_shared<const std::string>(seen.text)));
                  });
}

void AgentProcess::on(const Dismiss&, const wire::Blob&) { end(End::dismissed, "the driver needs this node no more"); }

/// What a worker hands over (the socket of a runtime that wants to be the driver's guest) goes no
/// further than this machine.
Result<void> AgentProcess::worker_message(std::int64_t worker_id, wire::Frame frame) {
  channel_->send(enclose(WorkerTold{worker_id, 0}, std::move(frame)));
  return {};
}

void AgentProcess::worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) {
  packages_.gone(worker_id);
  channel_->send(wire::to_frame(WorkerGone{worker_id, status}, std::make_shared<const std::string>(log_tail)));
}

bool AgentProcess::worker_line(std::int64_t worker_id, std::string_view line) {
  channel_->send(wire::to_frame(WorkerPrinted{worker_id}, std::make_shared<const std::string>(line)));
  return !paused_ && channel_->queued_bytes() < SecureChannel::drain_bytes;
}

/// Asking has it looked at again. Where much waits for a slow link, this is left out.
void AgentProcess::use_seen() {
  const node::Use* use = agent_->use(node::has_gpus(config_.node.total));
  if (use != nullptr && channel_->queued_bytes() < SecureChannel::drain_bytes)
    channel_->send(wire::to_frame(UseTold{*use}));
}

void AgentProcess::notice(const std::string& text) { channel_->send(wire::to_frame(Noticed{text})); }

}  // namespace headway::cluster
