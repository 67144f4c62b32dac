#include "library/data_waits.hpp"

#include "data/verdict.hpp"
#include "feed/feed_client.hpp"
#include "library/worker_main.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace headway::library {
namespace {

/// The driver hears of a wait for a batch after so long, then after twice as long …
constexpr auto starving = std::chrono::seconds(1);
/// … but not more seldom than this, as counts are.
constexpr auto told_each = std::chrono::seconds(10);

double seconds_of(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

DataWaits& DataWaits::of(const std::string& name) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, std::unique_ptr<DataWaits>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<DataWaits>& waits = all[name];
  if (!waits) waits.reset(new DataWaits(name));
  return *waits;
}

void DataWaits::begin() {
  began_ = Clock::now();
  tell_after_ = starving;
}

void DataWaits::lasts(const FlowCounters& flow) {
  const Clock::duration waited = Clock::now() - began_;
  if (waited < tell_after_) return;
  tell_after_ += std::min<Clock::duration>(tell_after_, told_each);
  starving_ = true;
  tell_data_progress({name_, waits_, flow, seconds_of(waited)});
}

void DataWaits::end(const feed::Stream& stream) {
  if (is_opening_ && has_epochs_) {
    const double waited_s = seconds_of(Clock::now() - began_);
    waits_ = {waits_.waiting_s + waited_s, waits_.elapsed_s + waited_s};
  }
  is_opening_ = false;
  if (starving_ || Clock::now() - told_ >= told_each) tell_all(stream);
}

void DataWaits::end_epoch(const feed::Stream& stream) {
  tell_all(stream);
  waits_ = waits_with(stream);
  flow_ = flow_with(stream);
  is_opening_ = has_epochs_ = true;
}

RankCounters DataWaits::waits_with(const feed::Stream& stream) const {
  const RankCounters epoch = stream.waits();
  return {waits_.waiting_s + epoch.waiting_s, waits_.elapsed_s + epoch.elapsed_s};
}

FlowCounters DataWaits::flow_with(const feed::Stream& stream) const {
  FlowCounters all = flow_;
  data::add_flow(all, stream.counters());
  return all;
}

void DataWaits::tell_all(const feed::Stream& stream) {
  starving_ = false;
  told_ = Clock::now();
  tell_data_progress({name_, waits_with(stream), flow_with(stream), std::nullopt});
}

}  // namespace headway::library
