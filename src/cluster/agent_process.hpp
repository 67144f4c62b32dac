#pragma once

#include "cluster/agent_messages.hpp"
#include "cluster/package_desk.hpp"
#include "cluster/secure_channel.hpp"
#include "node/agent.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace headway::cluster {

/// How this machine makes the environments that drivers describe by a recipe.
struct RecipeConfig {
  /// Makes the environment and becomes its factory: the recipe follows, then what any factory is
  /// given. Empty: a program whose drivers have none.
  std::vector<std::string> command;
  std::string packages_folder;  ///< Where it unpacks packages, each in a folder of its hash.

  /// Names to the command, as JSON, what has come but is not unpacked there: paths by hashes.
  static constexpr const char* arrived_variable = "HEADWAY_NODE_PACKAGES";
};

struct AgentProcessConfig {
  Endpoint driver;
  std::string token;
  node::FactoryConfig factory;
  node::NodeResources node;  ///< Its id is the driver's to give.
  double grace_s = 30;       ///< What SIGTERM leaves the ranks until the machine is taken away.
  RecipeConfig recipes = {};
};

/// The process that offers this machine to a driver elsewhere: an Agent that takes its orders over
/// a SecureChannel. It holds a lease of the driver, which it must renew: without one it ends its
/// workers and itself, so that the driver may start them elsewhere. The guards of its factories
/// know the lease too, should this process be stopped.
class AgentProcess : public node::AgentSink {
 public:
  enum class End {
    dismissed,  ///< The driver needs it no more.
    left,       ///< SIGINT or SIGTERM ended it.
    refused,    ///< It never joined.
    lost        ///< The driver is out of reach.
  };

  /// What starts workers here, from the welcome on, and the clock of leases.
  struct World {
    std::function<std::unique_ptr<node::NodeAgent>(node::AgentSink&)> make_agent;
    std::function<node::LeaseTime()> now = node::lease_now;
  };

  /// Says on the standard error what happens. Blocks until the agent has ended; no worker is left
  /// then.
  static End run(AgentProcessConfig config);

  /// On `loop`, which is stopped at the end. The loop outlives this object and calls nothing of it
  /// afterwards.
  AgentProcess(boost::asio::io_context& loop, AgentProcessConfig config, World world);
  ~AgentProcess() override;

  /// The connection to the driver, past its TLS handshake, or why there is none.
  void joined(Result<std::shared_ptr<SecureChannel>> channel);
  /// SIGTERM: the machine will be taken away. A second one, or SIGINT, ends the agent at once.
  void signaled(int signal);
  /// How it has ended; nothing before.
  std::optional<End> ended() const { return end_; }

 private:
  Result<void> on_frame(const wire::Frame& frame);
  void on(const Welcome& message, const wire::Blob& blob);
  void on(const Refused& message, const wire::Blob& blob);
  void on(const WarmFactory& message, const wire::Blob& blob);
  void on(const StartWorker& message, const wire::Blob& blob);
  void on(const TellWorker& message, const wire::Blob& blob);
  void on(const SignalWorker& message, const wire::Blob& blob);
  void on(const PauseOutput& message, const wire::Blob& blob);
  void on(const ResumeOutput& message, const wire::Blob& blob);
  void on(const ExamineWorker& message, const wire::Blob& blob);
  void on(const GrantLease& message, const wire::Blob& blob);
  void on(const PackageBytes& message, const wire::Blob& blob);
  void on(const Dismiss& message, const wire::Blob& blob);

  void start(const node::WorkerLaunch& launch, wire::Frame first);
  void start_by_recipe(node::WorkerLaunch launch, wire::Frame first);
  bool wait_for_start(std::int64_t worker_id, std::function<void()> order);
  void ask_lease();
  void watch_lease();
  void lease_is_over();
  void leave();
  void end(End how, const std::string& words);
  void farewell();

  Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) override;
  void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) override;
  bool worker_line(std::int64_t worker_id, std::string_view line) override;
  void notice(const std::string& text) override;
  void use_seen() override;

  /// `action`, unless the timer was cancelled or this object has gone.
  void wait_for(boost::asio::steady_timer& timer, std::function<void()> action);

  boost::asio::io_context& loop_;
  AgentProcessConfig config_;
  World world_;
  boost::asio::steady_timer renewal_;
  boost::asio::steady_timer expiry_;
  boost::asio::steady_timer departure_;
  std::shared_ptr<SecureChannel> channel_;
  std::unique_ptr<node::NodeAgent> agent_;  ///< From the welcome on.
  node::LeaseTime lease_{};
  node::LeaseTime lease_end_{};
  /// When each lease that is not granted yet was asked for.
  std::map<std::int64_t, node::LeaseTime> asked_;
  std::int64_t leases_asked_ = 0;
  bool paused_ = false;
  bool leaving_ = false;
  std::optional<End> end_;
  PackageDesk packages_;
  /// By the workers that wait for packages, the orders that follow their start.
  std::map<std::int64_t, std::vector<std::function<void()>>> held_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For the timers.
};

}  // namespace headway::cluster
