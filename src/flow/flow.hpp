#pragma once

#include "data/cursor.hpp"
#include "feed/feed_messages.hpp"
#include "flow/demand.hpp"
#include "flow/engine.hpp"
#include "flow/plan_builder.hpp"
#include "flow/row_dealer.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace headway::flow {

/// What a flow reports, from its threads. Neither call waits.
struct FlowEvents {
  /// All rows that are wanted were read, or a thread has none left to read. They need not have been
  /// dealt. Once or more often.
  std::function<void()> on_read;
  /// The last thing that the flow does. `whole`: its clients have had all rows, or will have.
  std::function<void(bool whole)> on_end;
};

/// One epoch of a plan, for the clients that share it. It has a thread that pulls rows through the
/// plan's stages and deals them; the stages have threads of theirs.
class Flow {
 public:
  /// `consumption` is the same for all members but for the rank. `gauges` count what it does.
  /// A flow that is not `wanted` yet opens its files, reads a little where only this process has to
  /// work for that, and waits. Errors: `unavailable`, without an event.
  static Result<std::unique_ptr<Flow>> start(Engine& engine, std::shared_ptr<const PlanInput> input,
                                             feed::Consumption consumption, std::vector<Member> members,
                                             std::shared_ptr<FlowGauges> gauges, FlowEvents events, bool wanted = true);
  /// Waits for the thread; after `stop` not for long.
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Any thread: its clients have come. False: it has failed before, and they get nothing of it.
  bool want();
  /// Any thread. Members hear nothing more.
  void stop();

 private:
  Flow(Engine& engine, std::shared_ptr<const PlanInput> input, feed::Consumption consumption,
       std::vector<Member> members, std::shared_ptr<FlowGauges> gauges, FlowEvents events, bool wanted);

  bool run();
  arrow::Status wait_until_wanted();
  arrow::Status deal_epoch();
  arrow::Result<BuiltPlan> build(const data::Cursor& cursor, bool with_ring);
  arrow::Status deal(BuiltPlan& built, data::Cursor& cursor, std::uint32_t layout);
  arrow::Result<data::Cursor> start_cursor(const data::PlanIdentity& identity) const;
  arrow::Status check_sources(const BuiltPlan& built, data::Cursor& cursor) const;
  arrow::Status open_outlets(const data::Cursor& cursor, const std::shared_ptr<SharedRing>& ring);
  arrow::Status pull(BuiltPlan& built, RowDealer& dealer, StageGauge& dealing);
  void end(const RowDealer& dealer, const ErroredUnits& errored);
  void fail(const arrow::Status& status);

  Engine& engine_;
  const std::shared_ptr<const PlanInput> input_;
  const feed::Consumption consumption_;
  const std::vector<Member> members_;
  const std::shared_ptr<FlowGauges> gauges_;
  const FlowEvents events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::shared_ptr<Demand> demand_;  ///< Of its clients. Comes with `mutex_` held.
  Stage* stage_ = nullptr;                ///< While it runs.
  bool stopped_ = false;
  bool failed_ = false;           ///< Before it was wanted.
  std::int64_t rows_before_ = 0;  ///< The first row that it deals.
  std::thread thread_;
};

/// What a client hears of a failure: the Failed message, and beside it the pickled exception of
/// the user's function if that was it.
wire::Frame failure_frame(const arrow::Status& status);
wire::Frame failure_frame(const Error& error);

}  // namespace headway::flow
