#pragma once

#include "core/stage_counters.hpp"

#include <arrow/record_batch.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headway::flow {

using SteadyTime = std::chrono::steady_clock::time_point;
using Nanoseconds = std::chrono::nanoseconds;

/// Counts what one stage of a flow does. Any thread.
class StageGauge {
 public:
  /// `workers` is asked whenever the gauge is read, and does not wait; 0, or unset: its threads.
  explicit StageGauge(std::string name, std::function<int()> workers = nullptr)
      : name_(std::move(name)), workers_of_(std::move(workers)) {}

  enum class Doing { works, waits_for_input, waits_for_output, waits_for_memory };
  void spent(Doing doing, Nanoseconds time);
  /// Rows that it passes on.
  void made(const arrow::RecordBatch& rows);
  /// So much more of the budget is held for its rows; less, when negative.
  void held(std::int64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  void enter() { at_work_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { at_work_.fetch_sub(1, std::memory_order_relaxed); }

  void set_pool(int pool) { pool_.store(pool, std::memory_order_relaxed); }
  void set_threads(std::size_t threads) { threads_.store(static_cast<int>(threads), std::memory_order_relaxed); }

  StageCounters read() const;

 private:
  const std::string name_;
  const std::function<int()> workers_of_;
  std::atomic<int> pool_{0};
  std::atomic<int> threads_{1};
  std::atomic<std::int64_t> spent_ns_[4] = {};
  std::atomic<std::int64_t> rows_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> measured_rows_{0};   ///< Rows whose bytes were measured …
  std::atomic<std::int64_t> measured_bytes_{0};  ///< … and these.
  std::atomic<std::int64_t> held_{0};
  std::atomic<int> at_work_{0};
  std::atomic<std::int64_t> last_rows_ns_{std::chrono::steady_clock::now().time_since_epoch().count()};
};

}  // namespace headway::flow
