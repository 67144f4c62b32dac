#pragma once

#include "core/worker.hpp"
#include "node/lease_clock.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headway::node {

/// How worker factories are started on this node.
struct FactoryConfig {
  std::string guard_path;  ///< The headway-guard program.
  std::vector<std::string>
      command;  ///< Starts a factory; the control descriptor's number and the modules to import follow.
  std::map<std::string, std::string> env;
  std::string py_spy;  ///< The program that shows the stacks of a process; empty: there is none.
};

/// The agent's end of one worker factory: a guard process, below it the factory, below that the workers.
class Factory {
 public:
  struct Handlers {
    std::function<void(const std::vector<std::string>& problems)> ready;
    std::function<void(std::int64_t worker_id, std::int64_t pid, const std::string& exec_reason)> spawned;
    std::function<void(std::int64_t worker_id, const ExitStatus& status)> ended;
    /// The factory is gone, and with it every worker of it that had not ended; `ended` was called for each.
    std::function<void()> lost;
  };

  Factory(boost::asio::io_context& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}
  ~Factory();
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;

  /// Starts the processes. Errors: `unavailable`.
  Result<void> start(const FactoryConfig& config, const std::vector<std::string>& preload);

  /// Takes both descriptors. Orders given before the factory is ready wait in its socket.
  void spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, int session_fd, int output_fd);
  void signal(std::int64_t worker_id, int signal);
  pid_t guard_pid() const { return guard_pid_; }

  /// Its guard ends everything at this time, unless it hears of a later one: this process may be stopped by then.
  void hold_until(LeaseTime end) const;

  /// The factory's own process; 0 when it is not there (yet).
  pid_t process() const;

 private:
  void on_frame(const wire::Frame& frame);
  void on_lost();

  boost::asio::io_context& loop_;
  Handlers handlers_;
  std::shared_ptr<wire::Channel> channel_;
  int life_fd_ = -1;
  pid_t guard_pid_ = 0;
  std::set<std::int64_t> alive_;  ///< Workers ordered and not ended.
};

}  // namespace headway::node
