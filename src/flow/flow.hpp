#pragma once

#include "data/cursor.hpp"
#include "feed/feed_messages.hpp"
#include "flow/engine.hpp"
#include "flow/plan_builder.hpp"
#include "flow/row_dealer.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headway::flow {

/// One epoch of a plan, for the clients that share it. It has a thread that pulls rows through the
/// plan's stages and deals them; the stages have threads of theirs.
class Flow {
 public:
  /// `consumption` is the same for all members but for the rank. `gauges` count what it does.
  /// `on_end` is called once, from the flow's thread, as the last thing it does. Errors:
  /// `unavailable`, without `on_end`.
  static Result<std::unique_ptr<Flow>> start(Engine& engine, std::shared_ptr<const PlanInput> input,
                                             feed::Consumption consumption, std::vector<Member> members,
                                             std::shared_ptr<FlowGauges> gauges, std::function<void()> on_end);
  /// Waits for the thread; after `stop` not for long.
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Any thread. Members hear nothing more.
  void stop();

 private:
  Flow(Engine& engine, std::shared_ptr<const PlanInput> input, feed::Consumption consumption,
       std::vector<Member> members, std::shared_ptr<FlowGauges> gauges);

  void run();
  arrow::Status deal_epoch();
  arrow::Result<data::Cursor> start_cursor(const data::PlanIdentity& identity) const;
  arrow::Status check_sources(const BuiltPlan& built, data::Cursor& cursor) const;
  arrow::Status open_outlets(const data::Cursor& cursor);
  arrow::Status pull(BuiltPlan& built, RowDealer& dealer, StageGauge& dealing);
  void end(const RowDealer& dealer);
  void fail(const arrow::Status& status);

  Engine& engine_;
  const std::shared_ptr<const PlanInput> input_;
  const feed::Consumption consumption_;
  const std::vector<Member> members_;
  const std::shared_ptr<FlowGauges> gauges_;
  std::mutex mutex_;
  Stage* stage_ = nullptr;  ///< While it runs.
  bool stopped_ = false;
  std::thread thread_;
};

/// What a client hears of a failure: the Failed message, and beside it the pickled exception of
/// the user's function if that was it.
wire::Frame failure_frame(const arrow::Status& status);
wire::Frame failure_frame(const Error& error);

}  // namespace headway::flow
