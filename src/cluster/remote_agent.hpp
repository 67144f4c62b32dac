#pragma once

#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"
#include "node/log_file.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace headway::cluster {

/// A node of another machine, as the driver sees it: what is asked goes to its agent over the
/// channel. It grants the agent its lease.
class RemoteAgent : public node::NodeAgent {
 public:
  using Clock = std::chrono::steady_clock;

  struct Handlers {
    /// The agent is out of reach, for good; called once. Its workers may live on until
    /// `fenced_until`, not longer.
    std::function<void(const std::string& reason, Clock::time_point fenced_until)> lost;
    std::function<void(double grace_s)> preempting;
  };

  /// `channel` is past its handshakes. Lines of workers' output go into their log files here, on
  /// the driver's machine, by `log_threads`, which lives on the same loop. While a log file takes
  /// nothing, the node's output waits there.
  RemoteAgent(boost::asio::io_context& loop, std::shared_ptr<SecureChannel> channel,
              std::chrono::duration<double> lease, node::AgentSink& sink, Handlers handlers,
              std::shared_ptr<node::LogThreads> log_threads);
  /// Dismisses the agent. Handlers and sink are not called any more.
  ~RemoteAgent() override;

  Result<void> warm(const std::vector<std::string>& preload) override;
  Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame first) override;
  void send(std::int64_t worker_id, wire::Frame frame) override;
  void signal_worker(std::int64_t worker_id, int signal) override;
  void resume_output() override;
  void examine(std::int64_t worker_id, Examined done) override;
  /// What the agent has told last: it looks by itself.
  const node::Use* use(bool with_gpus) override;
  /// Handlers hear of its end: it leaves.
  void dismiss() override;
  /// Waits for the log files. The destructor dismisses the agent.
  void close(std::function<void()> closed) override;

 private:
  struct Worker {
    std::shared_ptr<node::LogFile> log;  ///< Null: it has none.
    std::string session_error = {};      ///< Why it was ended.
    std::vector<node::Package> packages = {};
  };

  Result<void> on_frame(const wire::Frame& frame);
  void on(const Join&, const wire::Blob&) {}
  void on(const WorkerTold& message, const wire::Blob& blob);
  void on(const WorkerPrinted& message, const wire::Blob& blob);
  void on(const WorkerGone& message, const wire::Blob& blob);
  void on(const WorkerExamined& message, const wire::Blob& blob);
  void on(const Noticed& message, const wire::Blob& blob);
  void on(const UseTold& message, const wire::Blob& blob);
  void on(const AskLease& message, const wire::Blob& blob);
  void on(const NeedPackage& message, const wire::Blob& blob);
  void on(const Preempting& message, const wire::Blob& blob);
  void on(const Leaving& message, const wire::Blob& blob);
  std::shared_ptr<node::LogFile> open_log(std::int64_t worker_id, const std::string& path);
  void close_log(node::LogFile& log, std::function<void()> closed);
  void pause_or_resume();
  void wait_for_sign_of_life();
  void lose(const std::string& reason);

  std::shared_ptr<SecureChannel> channel_;
  Clock::duration lease_;
  node::AgentSink& sink_;
  Handlers handlers_;
  boost::asio::steady_timer silence_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is called later.
  Clock::time_point granted_;                                   ///< When the last lease was.
  std::map<std::int64_t, Worker> workers_;
  std::shared_ptr<node::LogThreads> log_threads_;
  std::set<std::int64_t> full_logs_;  ///< Workers whose log files take nothing for now.
  bool full_sink_ = false;
  std::map<std::int64_t, Examined> examinations_;
  std::int64_t examinations_asked_ = 0;
  std::optional<node::Use> use_;
  bool paused_ = false;  ///< The agent was asked to let the output wait.
  bool leaving_ = false;
};

}  // namespace headway::cluster
