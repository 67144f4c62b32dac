#include "flow/flow.hpp"

#include "data/cursor.hpp"
#include "flow/functions/wider_schema.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

namespace headway::flow {
namespace {

/// Of all lanes of an epoch, which one machine may read, or several with different budgets.
constexpr std::int64_t shuffled_bytes_of_lanes = std::int64_t{256} << 20;

/// Shuffles in windows hold no more at once. A power of two beyond the default: machines of about
/// the same memory have the same order of rows.
std::int64_t shuffled_bytes_max(std::int64_t budget, int lanes) {
  if (lanes > 1) return std::max(data::default_window_bytes, shuffled_bytes_of_lanes / lanes);
  const auto share = static_cast<std::uint64_t>(budget / 4);
  return std::max(data::default_window_bytes, static_cast<std::int64_t>(std::bit_floor(share)));
}

arrow::Status status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_argument: return arrow::Status::Invalid(error.message);
    case ErrorKind::unavailable: return arrow::Status::OutOfMemory(error.message);
    default: return arrow::Status::IOError(error.message);
  }
}

/// The one that a client uses, the one before it, and the one that comes next.
constexpr int batches_beside_prefetch = 3;

std::uint64_t drawn_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 31U) ^ device();
}

std::string subject_of(const feed::Consumption& consumption) {
  return consumption.group.empty() ? "the data set" : "the data set \"" + consumption.group + "\"";
}

/// Of an epoch without a limit.
data::Shares shares_of(const feed::Consumption& consumption, const std::vector<Member>& members) {
  data::Shares shares;
  shares.world_size = consumption.world_size;
  shares.batch_rows = consumption.batch_size.value_or(shares.batch_rows);
  shares.drop_last = consumption.drop_last;
  shares.equal = consumption.equal;
  shares.ranks.clear();
  for (const Member& member : members) shares.ranks.push_back(member.rank);
  return shares;
}

DealerConfig dealer_config(const feed::Consumption& consumption, const data::Cursor& cursor, const BuiltPlan& built,
                           const std::vector<Member>& members) {
  DealerConfig config;
  config.batch_rows = consumption.batch_size;
  config.epoch = cursor.epoch;
  config.start = data::position_of(cursor);
  if (built.lanes > 1) {
    config.rows_of_epoch = built.order->rows();
  } else {
    config.skip_rows = built.order == nullptr ? cursor.rows_before : cursor.row;
  }
  config.shares = shares_of(consumption, members);
  config.shares.rows_max = built.rows_max;
  config.ring = built.ring;
  return config;
}

}  // namespace

Flow::Flow(Engine& engine, std::shared_ptr<const PlanInput> input, feed::Consumption consumption,
           std::vector<Member> members, std::shared_ptr<FlowGauges> gauges, FlowEvents events, bool wanted)
    : engine_(engine),
      input_(std::move(input)),
      consumption_(std::move(consumption)),
      members_(std::move(members)),
      gauges_(std::move(gauges)),
      events_(std::move(events)),
      demand_(std::make_shared<Demand>(wanted)) {}

Result<std::unique_ptr<Flow>> Flow::start(Engine& engine, std::shared_ptr<const PlanInput> input,
                                          feed::Consumption consumption, std::vector<Member> members,
                                          std::shared_ptr<FlowGauges> gauges, FlowEvents events, bool wanted) {
  std::unique_ptr<Flow> flow(new Flow(engine, std::move(input), std::move(consumption), std::move(members),
                                      std::move(gauges), std::move(events), wanted));
  Result<std::thread> thread = wire::start_thread([self = flow.get()] {
    const bool whole = self->run();
    self->events_.on_end(whole);
  });
  if (!thread) return thread.error();
  flow->thread_ = std::move(*thread);
  return flow;
}

Flow::~Flow() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Flow::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Member& member : members_) member.outlet->close();
  if (stage_ != nullptr) stage_->stop();
  changed_.notify_all();
}

bool Flow::want() {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  demand_->come();
  changed_.notify_all();
  return true;
}

arrow::Status Flow::wait_until_wanted() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return demand_->is_there() || stopped_; });
  return stopped_ ? arrow::Status::Cancelled("the stream was closed") : arrow::Status::OK();
}

bool Flow::run() {
  arrow::Status status;
  try {
    status = deal_epoch();
  } catch (const std::exception& failure) {
    status = arrow::Status::UnknownError(failure.what());
  }
  gauges_->stop_pulling();
  engine_.functions()->trim();
  if (!status.ok() && !status.IsCancelled()) fail(status);
  return status.ok();
}

void Flow::fail(const arrow::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    failed_ = !demand_->is_there();
    if (failed_) return;
  }
  for (const Member& member : members_) member.outlet->send(failure_frame(status));
}

/// Where the epoch begins: the cursor that was given, checked as far as the plan goes, or the
/// start.
arrow::Result<data::Cursor> Flow::start_cursor(const data::PlanIdentity& identity) const {
  data::Cursor cursor;
  if (consumption_.cursor && !consumption_.cursor->is_null()) {
    Result<data::Cursor> parsed = data::parse_cursor(*consumption_.cursor, "the cursor of " + subject_of(consumption_));
    if (!parsed) return status_of(parsed.error());
    cursor = std::move(*parsed);
    return cursor;
  }
  cursor.seed = consumption_.seed ? static_cast<std::uint64_t>(*consumption_.seed) : drawn_seed();
  cursor.epoch = static_cast<std::uint32_t>(consumption_.epoch);
  cursor.lanes = consumption_.batch_size ? consumption_.lanes : 1;
  cursor.window_bytes = shuffled_bytes_max(engine_.budget().bytes(), cursor.lanes);
  cursor.plan = identity;
  cursor.plan_hash = data::plan_hash(identity);
  return cursor;
}

arrow::Status Flow::check_sources(const BuiltPlan& built, data::Cursor& cursor) const {
  const std::string hash = data::source_hash(built.units);
  if (cursor.source_hash.empty()) cursor.source_hash = hash;
  const Result<void> checked =
      data::check_cursor(cursor, input_->identity_of(input_->plan), hash, subject_of(consumption_));
  if (!checked) return status_of(checked.error());
  const int lanes = std::exchange(cursor.lanes, built.lanes);
  if (lanes == built.lanes || cursor.rows_before == 0) return arrow::Status::OK();
  return arrow::Status::Invalid(subject_of(consumption_), " was read in ", lanes,
                                " lanes, which needs batch_size and pieces whose rows are known: no "
                                "max_errored_blocks that was not there before");
}

arrow::Status Flow::open_outlets(const data::Cursor& cursor, const std::shared_ptr<SharedRing>& ring) {
  for (const Member& member : members_) {
    const Result<void> opened = member.outlet->open(to_json(cursor), ring);
    if (!opened) return status_of(opened.error());
  }
  return arrow::Status::OK();
}

arrow::Status Flow::deal_epoch() {
  ARROW_ASSIGN_OR_RAISE(data::Cursor cursor, start_cursor(input_->identity_of(input_->plan)));
  ARROW_ASSIGN_OR_RAISE(BuiltPlan built, build(cursor, true));
  ARROW_RETURN_NOT_OK(check_sources(built, cursor));
  ARROW_RETURN_NOT_OK(open_outlets(cursor, built.ring));
  rows_before_ = cursor.rows_before;
  for (std::uint32_t layout = 0;; ++layout) {
    // Rows that wait would keep a function's worker, or half of the memory, from others.
    if (!built.may_run_ahead) ARROW_RETURN_NOT_OK(wait_until_wanted());
    arrow::Status dealt = deal(built, cursor, layout);
    if (!is_schema_widened(dealt) || layout == widenings_max) return dealt;
    // What comes next has the wider types; clients keep the batches that they have.
    built.stage->stop();
    gauges_->begin_anew();
    // They know no other ring than the first one.
    ARROW_ASSIGN_OR_RAISE(BuiltPlan again, build(cursor, false));
    built = std::move(again);
  }
}

/// The stages of the epoch from the cursor on.
arrow::Result<BuiltPlan> Flow::build(const data::Cursor& cursor, bool with_ring) {
  EpochConfig config;
  config.seed = cursor.seed;
  config.epoch = cursor.epoch;
  config.first_window = cursor.window;
  config.shuffle_window_rows = consumption_.shuffle_window_rows;
  config.shuffled_bytes_max = cursor.window_bytes;
  config.demand = demand_;
  config.on_read = events_.on_read;
  config.lanes = cursor.lanes;
  config.shares = shares_of(consumption_, members_);
  config.rows_before = cursor.rows_before;
  if (with_ring) {
    config.rows_dealt = consumption_.batch_size.value_or(0) * static_cast<std::int64_t>(members_.size()) *
                        (std::max(consumption_.prefetch, 0) + batches_beside_prefetch);
  }
  return PlanBuilder(engine_, *input_, config, gauges_).build();
}

/// Deals the rows, and moves the cursor behind what was dealt.
arrow::Status Flow::deal(BuiltPlan& built, data::Cursor& cursor, std::uint32_t layout) {
  ThreadClock& clock = gauges_->puller();
  const std::size_t dealing = clock.add(gauges_->add("deal"));
  DealerConfig dealer_settings = dealer_config(consumption_, cursor, built, members_);
  dealer_settings.layout = layout;
  dealer_settings.on_wait = [this, &clock, dealing](int rank, bool waits) {
    gauges_->wait_for(waits ? std::optional(rank) : std::nullopt);
    clock.go(waits ? ThreadClock::before(dealing + 1) : ThreadClock::in(dealing));
  };
  RowDealer dealer(std::move(dealer_settings), members_);
  demand_->set_wait_for_need([&dealer] { dealer.wait_for_need(); });
  clock.go(ThreadClock::in(dealing));
  arrow::Status pulled = pull(built, dealer, clock.gauge(dealing));
  demand_->set_wait_for_need(nullptr);
  cursor = data::moved(std::move(cursor), dealer.position());
  if (!pulled.ok()) return pulled;
  end(dealer, *built.errored);
  return arrow::Status::OK();
}

arrow::Status Flow::pull(BuiltPlan& built, RowDealer& dealer, StageGauge& dealing) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return arrow::Status::Cancelled("the stream was closed");
    stage_ = built.stage.get();
  }
  arrow::Status status;
  while (status.ok() && !dealer.is_satisfied()) {
    arrow::Result<std::optional<Chunk>> chunk = built.stage->next();
    status = chunk.status();
    if (!status.ok() || !*chunk) break;
    if ((*chunk)->rows) dealing.made(*(*chunk)->rows);
    status = dealer.put(std::move(**chunk));
  }
  if (status.ok()) events_.on_read();
  if (status.ok()) status = dealer.finish(built.stage->schema());
  const std::lock_guard lock(mutex_);
  stage_ = nullptr;
  return status;
}

void Flow::end(const RowDealer& dealer, const ErroredUnits& errored) {
  feed::End end;
  end.dropped = dealer.dropped();
  end.errored = errored.count();
  end.first_failure = errored.first_failure();
  FlowCounters counters = gauges_->read();
  counters.rows = dealer.position().rows_before - rows_before_;
  end.stats = std::move(counters);
  for (const Member& member : members_) member.outlet->finish(wire::to_frame(end));
}

}  // namespace headway::flow
