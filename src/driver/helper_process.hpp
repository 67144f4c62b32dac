#pragma once

#include "control/commands.hpp"
#include "driver/nodes.hpp"
#include "driver/worker_routes.hpp"
#include "engine/engine.hpp"
#include "node/node_agent.hpp"
#include "wire/session_messages.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace headway::driver {

/// What starts and reaches helper processes: the driver's own parts. They outlive every helper.
struct HelperServices {
  WorkerRoutes* routes = nullptr;
  Nodes* nodes = nullptr;
  engine::Engine* engine = nullptr;
  /// By it the helpers of this driver know each other on whatever nodes (cluster/peers.hpp).
  std::string peer_token;
  /// Takes the descriptor: a runtime inside the process wants to be the driver's guest.
  std::function<void(wire::Fd fd, node::FactoryChoice factory)> take_guest;
};

/// What a helper process is.
struct HelperPlan {
  std::string name;           ///< For people: "validation of checkpoint_000003".
  node::WorkerLaunch launch;  ///< Factory and log. The worker's number and its GPUs are filled in.
  wire::StartSession start;   ///< With its role. The slot and the peers' token are filled in.
  /// What it claims, or, where it shares what others have claimed, its slot.
  std::variant<engine::Wanted, Slot> place;
};

/// How a helper process ended.
struct HelperEnd {
  ExitStatus status;
  std::string log_tail;  ///< The last lines that it printed.
  /// Why it could not have what it claims; there was no process.
  std::optional<Error> refused = {};
};

/// One process of a run that is no rank: it claims resources, is launched, exchanges messages, and
/// ends with a reason. It decides nothing, and knows nothing of what the process is for: that is
/// the role in its StartSession (wire/worker_role.hpp, which says where a new role goes), and what
/// the handlers do. Lives on the driver's loop. Between `begin` and `ended` whoever made it keeps
/// it.
class HelperProcess : public WorkerListener, public std::enable_shared_from_this<HelperProcess> {
 public:
  /// Called while `owner` lives, and never after `ended`. Those that are null ignore what happened.
  struct Handlers {
    /// The claim waits, for this reason.
    std::function<void(const std::string& reason)> waiting = nullptr;
    /// The process receives messages.
    std::function<void()> ready = nullptr;
    std::function<void(const wire::FromWorker& message)> message = nullptr;
    /// False when the writer should wait.
    std::function<bool(std::string_view line)> line = nullptr;
    /// Once, at last. May be called within `begin` and `end`.
    std::function<void(const HelperEnd& end)> ended = nullptr;
  };

  HelperProcess(HelperServices services, std::weak_ptr<void> owner, HelperPlan plan, Handlers handlers);

  /// Claims what it needs and launches it, now or later.
  void begin();
  /// Whether it can be sent messages.
  bool ready() const { return ready_; }
  void send(wire::Frame frame);
  /// Ends the process, or withdraws its claim. May be called again, with a harder mode.
  void end(control::EndMode mode);

  const HelperPlan& plan() const { return plan_; }
  std::int64_t worker_id() const { return worker_id_; }

  Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) override;
  void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) override;
  bool worker_line(std::int64_t worker_id, std::string_view line) override;

 private:
  void granted(const Result<engine::Grant>& grant);
  void launch(Slot slot);
  void finish(HelperEnd end);
  /// Runs claim under their own numbers, which are positive; guests take numbers of workers too.
  std::int64_t holder() const { return -worker_id_; }

  HelperServices services_;
  std::weak_ptr<void> owner_;
  HelperPlan plan_;
  Handlers handlers_;
  std::int64_t worker_id_ = 0;
  bool launched_ = false;
  bool ready_ = false;
  bool over_ = false;
};

}  // namespace headway::driver
