#include "worker/step_clock.hpp"

#include <algorithm>
#include <utility>

namespace headway::worker {

StepClock::StepClock(int rank, int world_size) : interval_(interval(rank, world_size)) {}

Duration StepClock::interval(int rank, int world_size) {
  constexpr Duration least = std::chrono::seconds(1);
  return rank == 0 ? least : std::max<Duration>(least, std::chrono::milliseconds(10) * world_size);
}

void StepClock::begin_pass(std::int64_t loader, const LoaderPass& pass) {
  const std::lock_guard lock(mutex_);
  if (passes_.size() >= loaders_max && !passes_.contains(loader)) passes_.clear();
  passes_[loader] = {pass, 0, 0};
}

void StepClock::next_batch(std::int64_t loader) {
  const std::lock_guard lock(mutex_);
  const auto pass = passes_.find(loader);
  if (pass == passes_.end()) return;
  if (pass->second.begun > 0) batch_done(loader, pass->second);
  ++pass->second.begun;
  current_ = loader;
}

void StepClock::end_pass(std::int64_t loader) {
  const std::lock_guard lock(mutex_);
  const auto pass = passes_.find(loader);
  if (pass != passes_.end() && pass->second.done < pass->second.begun) batch_done(loader, pass->second);
}

/// With the mutex held.
void StepClock::batch_done(std::int64_t loader, Pass& pass) {
  ++pass.done;
  if (trained_ != loader) return;
  ++batches_;
  const auto& [epoch, batches, batch_size, samples] = pass.loader;
  if (!batch_size) {
    knows_samples_ = false;
    return;
  }
  const std::int64_t before = (pass.done - 1) * *batch_size;
  samples_ += samples ? std::clamp<std::int64_t>(*samples - before, 0, *batch_size) : *batch_size;
}

bool StepClock::stepped(std::int64_t optimizer, Time now) {
  const std::lock_guard lock(mutex_);
  if (steps_ > 0 && optimizers_.size() < optimizers_max && optimizers_.insert(optimizer).second) return false;
  optimizers_ = {optimizer};
  trained_ = current_;
  if (steps_++ == 0) {
    first_ = taken_at_ = now;
  } else {
    durations_.add(now - last_);
    waited_ += std::min(std::exchange(waited_since_, Duration::zero()), now - last_);
    if (each_) {
      in_passes_.forward_s += each_->forward_s;
      in_passes_.backward_s += each_->backward_s;
    }
  }
  blind_ = blind_ || (sees_ && !std::exchange(any_since_, false));
  waited_since_ = {};
  last_ = now;
  return now - taken_at_ >= interval_;
}

void StepClock::waited(Duration duration) {
  const std::lock_guard lock(mutex_);
  waited_since_ += duration;
}

void StepClock::in_collectives(Duration duration) {
  waited(duration);
  const std::lock_guard lock(mutex_);
  any_since_ = true;
}

void StepClock::see_collectives(bool visible) {
  const std::lock_guard lock(mutex_);
  sees_ = sees_ || visible;
  blind_ = blind_ || !visible;
}

void StepClock::passes_took(std::optional<double> forward_s, std::optional<double> backward_s) {
  const std::lock_guard lock(mutex_);
  passes_unknown_ = passes_unknown_ || !forward_s || !backward_s;
  if (passes_unknown_) return;
  if (!each_) {
    const auto before = static_cast<double>(durations_.count());
    in_passes_ = {before * *forward_s, before * *backward_s};
  }
  each_ = Passes{*forward_s, *backward_s};
}

std::int64_t StepClock::steps() {
  const std::lock_guard lock(mutex_);
  return steps_;
}

std::optional<LoopProgress> StepClock::take(Time now) {
  const std::lock_guard lock(mutex_);
  if (steps_ == std::exchange(taken_steps_, steps_)) return std::nullopt;
  taken_at_ = now;
  LoopProgress progress;
  progress.at_s = to_seconds(now - first_);
  progress.steps = steps_;
  progress.batches = batches_;
  if (const auto pass = trained_ ? passes_.find(*trained_) : passes_.end(); pass != passes_.end()) {
    progress.epoch = EpochPosition{pass->second.loader.epoch, pass->second.done, pass->second.loader.batches};
    if (knows_samples_) progress.samples = samples_;
  }
  progress.step_times = times_of(durations_);
  progress.waited_s = to_seconds(waited_);
  progress.sees_collectives = sees_ && !blind_;
  if (each_ && !passes_unknown_) {
    progress.forward_s = in_passes_.forward_s;
    progress.backward_s = in_passes_.backward_s;
  }
  return progress;
}

}  // namespace headway::worker
