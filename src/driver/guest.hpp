#pragma once

#include "driver/worker_routes.hpp"
#include "engine/engine.hpp"
#include "node/node_agent.hpp"
#include "wire/channel.hpp"
#include "wire/guest_messages.hpp"

#include <boost/asio.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace headway::driver {

class Runtime;

/// A runtime inside one of this driver's helper processes, as its host sees it: its claims are in
/// this driver's ledger, and its workers come from this driver's factories. When it ends, for
/// whatever reason, its workers are killed and its claims released. On the driver's loop.
class Guest : public WorkerListener, public std::enable_shared_from_this<Guest> {
 public:
  /// Takes `fd`. Its workers come from `factory`, as those of the run that it is in. `left` is
  /// called once, when the guest and all its workers are gone.
  Guest(Runtime& runtime, wire::Fd fd, node::FactoryChoice factory, std::function<void()> left);

  void start();
  /// This driver's runtime ends.
  void close();

  // Of its workers. What they say and print goes to the guest itself.
  Result<void> worker_message(std::int64_t, wire::Frame) override { return {}; }
  void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) override;
  bool worker_line(std::int64_t, std::string_view) override { return true; }

 private:
  Result<void> take(wire::Frame frame);
  void on(const wire::GuestWarm& message);
  void on(const wire::GuestSignal& message);
  void on(const wire::GuestAcquire& message);
  void on(const wire::GuestRelease& message);
  void spawn(const wire::GuestSpawn& message, node::WorkerEnds ends);
  void answer(std::int64_t holder, const Result<engine::Grant>& grant);
  void worker_ended(std::int64_t theirs, const ExitStatus& status);
  void tell_resources();
  void leave();

  Runtime* runtime_;
  std::shared_ptr<wire::Channel> channel_;
  node::FactoryChoice factory_;
  std::function<void()> left_;
  // By the guest's numbers, ours.
  std::map<std::int64_t, std::int64_t> workers_;
  std::map<std::int64_t, std::int64_t> holders_;
  bool gone_ = false;
};

}  // namespace headway::driver
