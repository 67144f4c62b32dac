#pragma once

#include "node/factory.hpp"
#include "node/log_capture.hpp"
#include "node/process_examiner.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headway::node {

/// A worker to be started on this node.
struct WorkerLaunch {
  std::int64_t worker_id = 0;        ///< Unique in the driver's life.
  std::vector<std::string> preload;  ///< Which factory: the modules that it has imported.
  std::map<std::string, std::string> env;
  std::string log_path;
};

/// Who wants to know about an agent's workers. Called on the agent's loop, in the order in which things happened: all that a
/// worker said and printed comes before `worker_exited`.
class AgentSink {
 public:
  virtual ~AgentSink() = default;
  virtual void worker_message(std::int64_t worker_id, wire::Frame frame) = 0;
  virtual void worker_exited(std::int64_t worker_id, const ExitStatus& status, const std::string& log_tail) = 0;
  /// One line of a worker's output; false stops its output until `resume_output`.
  virtual bool worker_line(std::int64_t worker_id, std::string_view line) = 0;
  /// Something that the user should know, such as why workers are not forked.
  virtual void notice(const std::string& text) = 0;
};

/// Owns the processes of one node: worker factories, workers, their sessions and their output. Lives on one event loop; in the
/// local engine that is the driver's.
class Agent {
 public:
  Agent(boost::asio::io_context& loop, FactoryConfig config, AgentSink& sink);
  ~Agent();

  /// Starts a factory for these modules unless there is one, so that it imports while something else goes on.
  Result<void> warm(const std::vector<std::string>& preload);

  /// Starts a worker and queues `first` as the first thing that its session hears.
  /// Errors: `unavailable` (no descriptors, no processes left); then nothing of it exists.
  Result<void> start_worker(const WorkerLaunch& launch, wire::Frame first);

  void send(std::int64_t worker_id, wire::Frame frame);
  void signal_worker(std::int64_t worker_id, int signal);
  void resume_output();

  /// What a worker is doing, in lines for the user (see ProcessExaminer); of one that is not started yet, what its factory is.
  void examine(std::int64_t worker_id, ProcessExaminer::Done done);

 private:
  struct Worker {
    std::string factory_key;
    pid_t pid = 0;  ///< 0 until it is started.
    std::shared_ptr<wire::Channel> session;
    std::shared_ptr<LogCapture> output;
    std::optional<ExitStatus> exit;
    bool session_closed = false;
    std::shared_ptr<boost::asio::steady_timer> last_words;
  };

  Result<Factory*> factory_for(const std::vector<std::string>& preload);
  void on_ended(std::int64_t worker_id, const ExitStatus& status);
  void on_session_closed(std::int64_t worker_id);
  void finish_worker(std::int64_t worker_id);
  void drop_factory(const std::string& key);

  boost::asio::io_context& loop_;
  FactoryConfig config_;
  AgentSink& sink_;
  ProcessExaminer examiner_;
  std::map<std::string, std::unique_ptr<Factory>> factories_;
  std::map<std::int64_t, Worker> workers_;
  bool told_exec_reason_ = false;
};

}  // namespace headway::node
