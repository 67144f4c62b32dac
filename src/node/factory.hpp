#pragma once

#include "core/worker.hpp"
#include "node/worker_source.hpp"
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
class Factory : public WorkerSource {
 public:
  Factory(boost::asio::io_context& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}
  ~Factory() override;
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;

  /// Starts the processes. Errors: `unavailable`.
  Result<void> start(const FactoryConfig& config, const std::vector<std::string>& preload);

  void spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, int session_fd, int output_fd,
             int error_fd) override;
  void signal(std::int64_t worker_id, int signal) override;
  bool idle() const override { return alive_.empty(); }
  void hold_until(LeaseTime end) const override;
  pid_t guard_pid() const override { return guard_pid_; }
  pid_t process() const override;

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
