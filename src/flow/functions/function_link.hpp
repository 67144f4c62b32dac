#pragma once

#include "flow/functions/function_memory.hpp"
#include "flow/functions/function_pool.hpp"

#include <atomic>

namespace headway::flow {

/// One function worker. One thread at a time calls `process`; `end` may come from any.
class FunctionLink {
 public:
  /// Starts the worker and hands it its function. Does not wait for it.
  static arrow::Result<std::unique_ptr<FunctionLink>> start(std::shared_ptr<FunctionHost> host,
                                                            const FunctionSpec& spec);
  /// The same with a worker of another node, which hears on `socket`.
  static std::unique_ptr<FunctionLink> start_elsewhere(std::shared_ptr<FunctionHost> host, wire::Fd socket,
                                                       const FunctionSpec& spec);
  FunctionLink(const FunctionLink&) = delete;
  FunctionLink& operator=(const FunctionLink&) = delete;
  /// Kills the worker.
  ~FunctionLink();

  /// Has the unit done. Errors: as FunctionPool::process; WorkerDied when the worker ended before
  /// it was done.
  arrow::Status process(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                        const FunctionSink& sink);

  /// Whether the worker is on another node.
  bool is_elsewhere() const { return worker_.id == elsewhere; }
  /// Whether the worker's end of the link is gone, as far as it is known here.
  bool has_ended() const;
  /// In words, after WorkerDied.
  std::string end_in_words() const;
  std::int64_t slot_bytes() const { return slot_bytes_.load(std::memory_order_relaxed); }
  /// A call under way ends with WorkerDied.
  void end();

  static bool is_death(const arrow::Status& status);
  /// Whether the worker had not begun with the unit of this failure, and most likely its function
  /// is not why: it ended while it had nothing to do, or with the host.
  bool has_lost_unit(const arrow::Status& status) const;

 private:
  static constexpr std::int64_t elsewhere = -1;

  FunctionLink(std::shared_ptr<FunctionHost> host, StartedWorker worker, const FunctionSpec& spec, bool plain);

  static std::unique_ptr<FunctionLink> with(std::shared_ptr<FunctionHost> host, StartedWorker worker,
                                            const FunctionSpec& spec);

  arrow::Status send_unit(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input);
  arrow::Status take_outputs(const FunctionWork& work, const FunctionSink& sink);
  bool go_on(bool is_wanted);
  arrow::Status failure_of(const FunctionFailed& failed, std::string pickled, const FunctionWork& work) const;

  const std::shared_ptr<FunctionHost> host_;
  const StartedWorker worker_;
  const std::string name_;
  InputMemory input_;
  OutputMemory outputs_;
  GpuShares::Share gpus_;
  bool has_worked_ = false;    ///< It has read a unit: its function was made.
  bool ended_before_ = false;  ///< Before its first unit was sent to it.
  std::atomic<std::int64_t> slot_bytes_ = 0;
};

}  // namespace headway::flow
