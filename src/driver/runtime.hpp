#pragma once

#include "cluster/join_desk.hpp"
#include "cluster/peers.hpp"
#include "control/tune/experiment_spec.hpp"
#include "core/config.hpp"
#include "driver/engines.hpp"
#include "driver/guest.hpp"
#include "driver/helper_process.hpp"
#include "driver/nodes.hpp"
#include "driver/publisher.hpp"
#include "driver/run_identity.hpp"
#include "driver/run_start.hpp"
#include "driver/shown_engine.hpp"
#include "driver/termination.hpp"
#include "driver/worker_routes.hpp"
#include "engine/bridge_provider.hpp"
#include "engine/engine.hpp"
#include "node/agent.hpp"
#include "wire/frame.hpp"
#include "wire/thread_pool.hpp"

#include <boost/asio.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace headway::driver {

class Experiment;
class Run;

/// Where workers are that Headway has not started: in local mode.
inline constexpr const char* attached_node = "attached";

struct RuntimeConfig {
  node::FactoryConfig factory;
  std::optional<double> num_cpus;  ///< Instead of what the machine has.
  std::optional<double> num_gpus;
  Resources resources;  ///< Named by the user.
  Labels labels = {};   ///< This machine's.
  /// Nodes of other machines may join; none: nothing listens.
  std::optional<cluster::JoinConfig> join;
  /// Inside a worker: the socket of Session::open_runtime; what there is, is its driver's.
  int host_fd = -1;
  /// Who gives more nodes, which then join; none: they come by themselves.
  std::optional<engine::BridgeConfig> bridge = std::nullopt;
  /// So long a node of the bridge's is kept that nobody uses.
  Duration idle_limit = std::chrono::minutes(1);
};

/// Errors: `invalid_argument`, naming the argument of headway.init().
Result<void> validate(const RuntimeConfig& config);

/// How other machines reach what listens at `host`.
std::string reachable_ip(const std::string& host);

/// One per driver process: the I/O thread, the nodes' agents, the engine, the storage threads, and
/// the runs. Its public functions may be called from any thread.
class Runtime : public node::AgentSink {
 public:
  /// `config` has passed validate(). Throws BadResult (`unavailable`) when no thread can be
  /// started.
  explicit Runtime(RuntimeConfig config);
  /// The same with an engine of the caller's.
  Runtime(RuntimeConfig config, const EngineFactory& engine);
  ~Runtime() override;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Ends every run, worker and factory, and returns when they are gone. A second call does
  /// nothing. Runs that are still held give their "finished" event; the runtime must outlive them.
  void shutdown();

  /// Opens the way in for other nodes (`RuntimeConfig::join`); "host:port", as they reach it.
  /// Errors: those of JoinDesk::open.
  Result<std::string> listen();

  /// Starts a worker factory for these modules in the background.
  void warm(std::vector<std::string> preload);

  /// A factory of this process's that this machine's node may take, for its modules, instead of
  /// starting one. One that was not taken is the caller's again after the shutdown.
  void offer(std::shared_ptr<node::ForkedFactory> forked);

  /// Errors: `invalid_argument`; `aborted` after the shutdown.
  Result<std::shared_ptr<Run>> start_run(RunStart start);

  /// Starts an experiment; blocks while its folder is read. Errors: those of Experiment::open;
  /// `aborted` after the shutdown.
  Result<std::shared_ptr<Experiment>> start_experiment(control::tune::ExperimentSpec spec);

  /// Lets any thread look at all runs, nodes and the queue, until the watch is given up. Nobody's
  /// events are taken. Errors: those of Publisher::watch; `aborted` after the shutdown.
  Result<std::shared_ptr<Watch>> watch();

  Resources total_resources();
  Resources available_resources();
  std::vector<node::NodeResources> node_resources();

  /// For runs, on the loop's thread.
  boost::asio::io_context& loop() { return loop_; }
  boost::asio::thread_pool& storage_threads() { return *storage_threads_; }
  /// For copies of artifacts, which may be slow: no commit waits behind them, unless the
  /// system gives no more threads.
  boost::asio::thread_pool& artifact_threads();
  Nodes& nodes() { return nodes_; }
  /// Whether workers tell their stacks themselves.
  bool own_stacks() const { return config_.factory.own_stacks; }
  engine::Engine& engine() { return *engine_; }
  std::shared_ptr<const ShownEngine> shown_engine() { return engine_looks_.now(*engine_, nodes_); }
  engine::SparePlaces& spare_places() { return spare_places_; }
  Publisher& publisher() { return publisher_; }
  /// This machine.
  const std::string& node_id() const { return node_id_; }
  /// Takes `fd`: a runtime inside a worker of this one wants to be its guest, with workers from the
  /// same factory.
  void take_guest(wire::Fd fd, node::FactoryChoice factory);
  WorkerRoutes& routes() { return routes_; }
  HelperServices helper_services();
  void forget_run(std::int64_t run_id);
  void forget_experiment(std::int64_t id) { experiments_.erase(id); }

 private:
  Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) override;
  void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) override;
  bool worker_line(std::int64_t worker_id, std::string_view line) override;
  void notice(const std::string& text) override;
  void use_seen() override;
  void node_joined(node::NodeResources node, std::shared_ptr<cluster::SecureChannel> channel);
  void node_lost(const std::string& node_id, const std::string& reason,
                 std::chrono::steady_clock::time_point fenced_until);
  void node_preempted(const std::string& node_id, double grace_s);
  /// This process received SIGTERM.
  void terminated();
  void capacity_changed();
  void spare_changed();
  /// What `question` answers on the loop, which alone may look; after the end, on this thread.
  template <class F>
  auto ask_loop(F question);
  /// Does `work` on the loop, unless the end has begun by then.
  template <class F>
  void later(F work);
  bool is_open();
  void run_loop();
  void close();
  void fail_runs(const Error& error);

  RuntimeConfig config_;
  // Before the loop: handlers that it still holds when it goes own runs, and these have strands of
  // the threads.
  std::unique_ptr<wire::ThreadPool> storage_threads_ = wire::ThreadPool::start(4).value();
  std::unique_ptr<wire::ThreadPool> artifact_threads_;  ///< From their first use on.
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<engine::Engine> engine_;
  engine::SparePlaces spare_places_;  ///< Of all runs.
  std::string node_id_;
  /// For the workers of other machines, from the first one on.
  std::shared_ptr<node::LogThreads> log_threads_;
  Nodes nodes_{loop_};
  std::unique_ptr<cluster::JoinDesk> desk_;
  std::set<std::vector<std::string>>
      preloads_;  ///< Of the factories that were asked for: a node that joins has them too.
  WorkerRoutes routes_;
  const std::string peer_token_ = cluster::new_peer_token();  ///< Of helper processes.
  std::map<std::int64_t, std::shared_ptr<Run>> runs_;
  Termination termination_{loop_, [this] { terminated(); }};  ///< While there are runs.
  double notice_period_s_ = 0;
  std::optional<std::chrono::steady_clock::time_point> terminated_at_;  ///< For the first time.
  EngineLooks engine_looks_;
  Publisher publisher_;
  std::map<std::int64_t, std::shared_ptr<Experiment>> experiments_;
  std::int64_t next_experiment_id_ = 1;
  std::map<std::int64_t, std::shared_ptr<Guest>> guests_;
  std::int64_t next_guest_id_ = 1;
  std::int64_t next_run_id_ = 1;
  std::thread thread_;
  std::vector<std::string> unheard_;  ///< Notices of a time without runs, for the next one.
  /// Else runs are about to hear that there may be more capacity.
  bool capacity_told_ = true;
  bool spare_told_ = true;  ///< The same of what is spare.
  bool closing_ = false;    ///< On the loop: nothing begins any more.

  enum class Stage { open, closing, closed };
  /// Held for a few instructions, never while somebody is waited for.
  std::mutex stage_mutex_;
  std::condition_variable stage_changed_;
  Stage stage_ = Stage::open;            ///< Only while it is open is anything handed to the loop.
  std::vector<std::string> last_words_;  ///< Notices of the end, when no run is left to take them.
};

}  // namespace headway::driver
