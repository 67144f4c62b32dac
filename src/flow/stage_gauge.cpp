#include "flow/stage_gauge.hpp"

#include "flow/batch_bytes.hpp"

namespace headway::flow {
namespace {

/// Measuring takes a moment for each column: the bytes of fewer rows are estimated by those before.
constexpr std::int64_t measured_rows_min = 64;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

}  // namespace

void StageGauge::spent(Doing doing, Nanoseconds time) {
  spent_ns_[static_cast<std::size_t>(doing)].fetch_add(time.count(), std::memory_order_relaxed);
}

void StageGauge::made(const arrow::RecordBatch& rows) {
  const std::int64_t count = rows.num_rows();
  if (count == 0) return;
  const std::int64_t known = measured_rows_.load(std::memory_order_relaxed);
  std::int64_t bytes = 0;
  if (count >= measured_rows_min || known < measured_rows_min) {
    bytes = batch_bytes(rows);
    measured_rows_.fetch_add(count, std::memory_order_relaxed);
    measured_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  } else {
    const auto measured = static_cast<double>(measured_bytes_.load(std::memory_order_relaxed));
    bytes = static_cast<std::int64_t>(measured / static_cast<double>(known) * static_cast<double>(count));
  }
  rows_.fetch_add(count, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  last_rows_ns_.store(now_ns(), std::memory_order_relaxed);
}

StageCounters StageGauge::read() const {
  const auto spent = [this](Doing doing) {
    return seconds(spent_ns_[static_cast<std::size_t>(doing)].load(std::memory_order_relaxed));
  };
  StageCounters counters;
  counters.name = name_;
  if (workers_of_) counters.workers = workers_of_();
  if (!workers_of_ || counters.workers == 0) counters.workers = threads_.load(std::memory_order_relaxed);
  counters.busy_s = spent(Doing::works);
  counters.waiting_input_s = spent(Doing::waits_for_input);
  counters.waiting_memory_s = spent(Doing::waits_for_memory);
  counters.waiting_output_s = spent(Doing::waits_for_output) + counters.waiting_memory_s;
  counters.rows = rows_.load(std::memory_order_relaxed);
  counters.bytes = bytes_.load(std::memory_order_relaxed);
  counters.held_bytes = held_.load(std::memory_order_relaxed);
  counters.pool = pool_.load(std::memory_order_relaxed);
  counters.at_work = at_work_.load(std::memory_order_relaxed);
  counters.silent_s = seconds(now_ns() - last_rows_ns_.load(std::memory_order_relaxed));
  return counters;
}

}  // namespace headway::flow
