#pragma once

#include "core/worker.hpp"
#include "node/factory_start.hpp"
#include "node/worker_source.hpp"
#include "wire/channel.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::node {

struct GuardEnd;

/// The agent's end of one worker factory: a guard process, below it the factory, below that the
/// workers.
class Factory : public WorkerSource {
 public:
  Factory(boost::asio::io_context& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}
  /// Its processes end by themselves, and are reaped while the loop runs.
  ~Factory() override;
  Factory(const Factory&) = delete;
  Factory& operator=(const Factory&) = delete;

  /// Starts the processes, or takes those that were forked. Errors: `unavailable`.
  Result<void> start(const FactoryConfig& config, const std::vector<std::string>& preload);

  void spawn(std::int64_t worker_id, const std::map<std::string, std::string>& env, WorkerEnds ends) override;
  void signal(std::int64_t worker_id, int signal) override;
  bool idle() const override { return alive_.empty(); }
  void hold_until(LeaseTime end) const override;
  void leave(std::function<void()> ended) override;
  pid_t guard_pid() const override { return guard_pid_; }
  pid_t process() const override;

 private:
  void serve(ForkedFactory started);
  Result<void> on_frame(const wire::Frame& frame);
  void on_lost(const std::optional<Error>& error);
  void await_end_of_guard();
  void look_for_end_of_guard(std::chrono::milliseconds step, std::chrono::milliseconds left);
  ExitStatus status_of_unready(const std::optional<ExitStatus>& end_of_guard) const;
  void report_lost(const ExitStatus& status);

  boost::asio::io_context& loop_;
  Handlers handlers_;
  std::shared_ptr<wire::Channel> channel_;
  wire::Fd life_;  ///< The writing end of the guard's pipe.
  pid_t guard_pid_ = 0;
  std::string entrance_;
  GuardLimits limits_;
  bool ready_ = false;
  std::set<std::int64_t> alive_;  ///< Workers ordered and not ended.
  /// While the end of a guard that went by itself is looked for.
  std::shared_ptr<GuardEnd> guard_end_;
};

}  // namespace headway::node
