#pragma once

#include "node/factory.hpp"
#include "node/host_link.hpp"
#include "node/log_capture.hpp"
#include "node/node_agent.hpp"
#include "node/process_examiner.hpp"
#include "node/scratch_directories.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headway::node {

/// Owns the processes of one node: worker factories, workers, their sessions and their output.
/// Lives on one event loop, which it never blocks; in the driver's own node that is the driver's.
class Agent : public NodeAgent {
 public:
  /// With a `host`, which must outlive it, workers come from there, and this agent has no factory.
  Agent(boost::asio::io_context& loop, FactoryConfig config, AgentSink& sink, HostLink* host = nullptr);
  ~Agent() override;

  Result<void> warm(const std::vector<std::string>& preload) override;
  void offer(std::shared_ptr<ForkedFactory> forked) override { config_.forked = std::move(forked); }
  Result<void> start_worker(const WorkerLaunch& launch, wire::Frame first) override;
  Result<void> lend(LentWorker worker) override;
  void send(std::int64_t worker_id, wire::Frame frame) override;
  void signal_worker(std::int64_t worker_id, int signal) override;
  void resume_output() override;
  void examine(std::int64_t worker_id, Examined done) override;
  const Use* use(bool with_gpus) override;
  std::vector<pid_t> guards() const override;
  void close(std::function<void()> closed) override;

  void hold_until(LeaseTime end) override;

 private:
  struct Worker {
    std::string factory_key;
    std::string scratch;
    pid_t pid = 0;           ///< 0 until it is started.
    std::int64_t heard = 0;  ///< How often its session has said something.
    std::shared_ptr<wire::Channel> session;
    /// One for both streams, or standard output's and error's.
    std::vector<std::shared_ptr<LogCapture>> output;
    std::optional<ExitStatus> exit;
    bool session_closed = false;
    /// Why its session broke; empty when it ended in order, or with the process.
    std::string session_error;
    bool killed = false;  ///< That is, it was ordered.
    std::shared_ptr<boost::asio::steady_timer> last_words;
    /// For its factory's word of its start, or end; and how often that was waited for.
    std::shared_ptr<boost::asio::steady_timer> overdue;
    int looks = 0;
  };

  struct Lent {
    std::string factory_key;
    std::function<void(std::int64_t pid)> spawned;
  };

  Result<WorkerSource*> factory_for(const WorkerLaunch& launch);
  void drop_idle_environments();
  void on_ended(std::int64_t worker_id, const ExitStatus& status);
  void on_session_closed(std::int64_t worker_id, const std::optional<Error>& error);
  void await_last_words(std::int64_t worker_id);
  void withdraw(std::int64_t worker_id);
  void finish_worker(std::int64_t worker_id);
  WorkerSource::Handlers handlers_for(const std::string& key);
  void drop_factory(const std::string& key);
  void end_factory(std::unique_ptr<WorkerSource> factory);
  void expect_answer(std::int64_t worker_id);
  void look_for_answer(std::int64_t worker_id);
  void give_up_factory(const std::string& key, std::chrono::milliseconds waited);
  std::function<void()> count_down();
  void finish_closing();
  void look_at_use();
  std::string take_scratch(const std::string& name);
  void give_back_scratch(const std::string& name);
  /// For what is called later: it does nothing once this agent has gone.
  template <class F>
  auto while_alive(F work) {
    return [here = std::weak_ptr(alive_), work = std::move(work)](auto&&... arguments) {
      if (!here.expired()) work(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  boost::asio::io_context& loop_;
  FactoryConfig config_;
  AgentSink& sink_;
  LogThreads log_threads_;  ///< They make and remove temporary directories, too.
  StagingPlace staging_ = staging_place();
  /// From its first use on; its threads' alone but for paths.
  std::shared_ptr<ScratchDirectories> scratch_;
  std::map<std::string, int> scratch_users_;  ///< By directory, the workers that have not ended.
  ProcessExaminer examiner_;
  std::shared_ptr<MachineUse> machine_ = std::make_shared<MachineUse>();  ///< One thread's.
  std::optional<Use> use_;
  boost::asio::steady_timer use_due_;
  std::chrono::steady_clock::time_point use_seen_at_{};
  bool use_asked_ = false;  ///< Since it was seen last.
  bool looks_at_gpus_ = false;
  HostLink* host_;
  std::map<std::string, std::unique_ptr<WorkerSource>> factories_;
  std::set<std::string> own_environments_;  ///< The keys of factories with a per-run environment.
  std::map<std::int64_t, Worker> workers_;
  std::map<std::int64_t, Lent> lent_;
  bool told_exec_reason_ = false;
  std::optional<LeaseTime> lease_end_;
  int ending_ = 0;  ///< Guards and log files whose ends are awaited.
  std::function<void()> closed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace headway::node
