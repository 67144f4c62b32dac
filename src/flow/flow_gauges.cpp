#include "flow/flow_gauges.hpp"

#include <utility>

namespace headway::flow {

ThreadClock::ThreadClock(FlowGauges& flow, StagePath path) : flow_(flow), path_(std::move(path)) {
  const std::lock_guard lock(flow_.mutex_);
  flow_.clocks_.insert(this);
}

ThreadClock::~ThreadClock() {
  {
    const std::lock_guard lock(flow_.mutex_);
    flow_.clocks_.erase(this);
  }
  go(before(0));
}

ThreadClock::Place ThreadClock::go(Place place) {
  const std::lock_guard lock(mutex_);
  charge();
  if (place_.works) path_[place_.stage]->leave();
  if (place.works) path_[place.stage]->enter();
  return std::exchange(place_, place);
}

void ThreadClock::settle() {
  const std::lock_guard lock(mutex_);
  charge();
}

std::size_t ThreadClock::add(std::shared_ptr<StageGauge> gauge) {
  const std::lock_guard lock(mutex_);
  path_.push_back(std::move(gauge));
  return path_.size() - 1;
}

/// With the mutex held.
void ThreadClock::charge() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const Nanoseconds time = now - std::exchange(since_, now);
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (i == place_.stage && place_.inside) {
      if (place_.works) path_[i]->spent(StageGauge::Doing::works, time);
    } else {
      path_[i]->spent(i < place_.stage ? StageGauge::Doing::waits_for_output : StageGauge::Doing::waits_for_input,
                      time);
    }
  }
}

std::shared_ptr<StageGauge> FlowGauges::add(std::string name, std::function<int()> workers) {
  auto gauge = std::make_shared<StageGauge>(std::move(name), std::move(workers));
  const std::lock_guard lock(mutex_);
  stages_.push_back(gauge);
  return gauge;
}

int FlowGauges::next_pool() {
  const std::lock_guard lock(mutex_);
  return ++pools_;
}

ThreadClock& FlowGauges::puller() {
  if (!puller_) puller_ = std::make_unique<ThreadClock>(*this, StagePath{});
  return *puller_;
}

void FlowGauges::stop_pulling() {
  puller_.reset();
  const std::lock_guard lock(mutex_);
  ended_ = std::chrono::steady_clock::now();
}

void FlowGauges::begin_anew() {
  puller_.reset();
  const std::lock_guard lock(mutex_);
  stages_.clear();
}

void FlowGauges::wait_for(std::optional<int> rank) {
  const std::lock_guard lock(mutex_);
  awaited_ = rank;
  awaited_since_ = std::chrono::steady_clock::now();
}

void FlowGauges::clients_came() {
  const std::lock_guard lock(mutex_);
  awaited_since_ = std::chrono::steady_clock::now();
}

FlowCounters FlowGauges::read() const {
  FlowCounters counters;
  StagePath stages;
  {
    const std::lock_guard lock(mutex_);
    for (ThreadClock* clock : clocks_) clock->settle();
    const SteadyTime now = std::chrono::steady_clock::now();
    counters.elapsed_s = std::chrono::duration<double>(ended_.value_or(now) - began_).count();
    counters.awaited = awaited_;
    if (awaited_) counters.awaited_for_s = std::chrono::duration<double>(now - awaited_since_).count();
    stages = stages_;
  }
  counters.budget_bytes = budget_.bytes();
  counters.held_bytes = budget_.taken();
  counters.held_bytes_max = budget_.peak();
  for (const auto& stage : stages) counters.stages.push_back(stage->read());
  if (!counters.stages.empty()) counters.rows = counters.stages.back().rows;
  return counters;
}

namespace {

/// What is the same for both: all but `next`.
class Over : public Stage {
 public:
  Over(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow)
      : stage_(std::move(stage)), flow_(std::move(flow)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return stage_->schema(); }
  void stop() override { stage_->stop(); }

 protected:
  const std::unique_ptr<Stage> stage_;
  const std::shared_ptr<FlowGauges> flow_;
};

class Gauged : public Over {
 public:
  Gauged(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow, std::string name)
      : Over(std::move(stage), std::move(flow)), place_(flow_->puller().add(flow_->add(std::move(name)))) {}

  arrow::Result<std::optional<Chunk>> next() override {
    ThreadClock& clock = flow_->puller();
    const Stay stay(&clock, ThreadClock::in(place_));
    ARROW_ASSIGN_OR_RAISE(auto chunk, stage_->next());
    if (chunk && chunk->rows) clock.gauge(place_).made(*chunk->rows);
    return chunk;
  }

 private:
  const std::size_t place_;
};

class Awaited : public Over {
 public:
  Awaited(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow)
      : Over(std::move(stage), std::move(flow)), place_(flow_->puller().stages()) {}

  arrow::Result<std::optional<Chunk>> next() override {
    const Stay stay(&flow_->puller(), ThreadClock::before(place_));
    return stage_->next();
  }

 private:
  const std::size_t place_;
};

}  // namespace

std::unique_ptr<Stage> gauged(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow, std::string name) {
  return std::make_unique<Gauged>(std::move(stage), std::move(flow), std::move(name));
}

std::unique_ptr<Stage> awaited(std::unique_ptr<Stage> stage, std::shared_ptr<FlowGauges> flow) {
  return std::make_unique<Awaited>(std::move(stage), std::move(flow));
}

}  // namespace headway::flow
