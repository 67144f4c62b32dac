#pragma once

#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"

#include <chrono>
#include <fstream>
#include <map>

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
  /// the driver's machine.
  RemoteAgent(boost::asio::io_context& loop, std::shared_ptr<SecureChannel> channel,
              std::chrono::duration<double> lease, node::AgentSink& sink, Handlers handlers);
  /// Dismisses the agent. Handlers and sink are not called any more.
  ~RemoteAgent() override;

  Result<void> warm(const std::vector<std::string>& preload) override;
  Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame first) override;
  void send(std::int64_t worker_id, wire::Frame frame) override;
  void signal_worker(std::int64_t worker_id, int signal) override;
  void resume_output() override;
  void examine(std::int64_t worker_id, Examined done) override;

 private:
  struct Worker {
    std::string log_path;
    std::string session_error = {};  ///< Why it was ended.
  };

  Result<void> on_frame(const wire::Frame& frame);
  void on(const Join&, const wire::Blob&) {}
  void on(const WorkerTold& message, const wire::Blob& blob);
  void on(const WorkerPrinted& message, const wire::Blob& blob);
  void on(const WorkerGone& message, const wire::Blob& blob);
  void on(const WorkerExamined& message, const wire::Blob& blob);
  void on(const Noticed& message, const wire::Blob& blob);
  void on(const AskLease& message, const wire::Blob& blob);
  void on(const Preempting& message, const wire::Blob& blob);
  void on(const Leaving& message, const wire::Blob& blob);
  void log_line(std::int64_t worker_id, const Worker& worker, std::string_view line);
  void wait_for_sign_of_life();
  void lose(const std::string& reason);

  std::shared_ptr<SecureChannel> channel_;
  Clock::duration lease_;
  node::AgentSink& sink_;
  Handlers handlers_;
  boost::asio::steady_timer silence_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For the timer.
  Clock::time_point granted_;                                   ///< When the last lease was.
  std::map<std::int64_t, Worker> workers_;
  std::map<std::int64_t, std::ofstream>
      logs_;  ///< The open ones: a node may have more workers than there are descriptors.
  std::map<std::int64_t, Examined> examinations_;
  std::int64_t examinations_asked_ = 0;
  bool paused_ = false;
  bool leaving_ = false;
};

}  // namespace headway::cluster
