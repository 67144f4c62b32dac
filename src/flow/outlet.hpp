#pragma once

#include "feed/feed_messages.hpp"
#include "flow/slot_batch.hpp"
#include "flow/slot_memory.hpp"
#include "wire/frame.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headway::flow {

/// One client's end of a flow: what the flow's thread deals, the event loop sends. Any thread may
/// call it.
class Outlet {
 public:
  /// `notify` has the event loop call `take_messages`, from any thread. `prefetch`: batches that
  /// may wait for the client beside the one that it uses.
  Outlet(std::unique_ptr<SlotMemory> memory, int prefetch, std::function<void()> notify);

  /// Waits until the client takes another batch, and writes it to a slot. `place` has all but the
  /// slot. `on_wait` is called as the wait begins, if there is one, and as it ends. False: the
  /// client is gone, or the flow was stopped. Errors: `unavailable`.
  Result<bool> deal(const SlotBatch& batch, feed::BatchInSlot place, const std::function<void(bool waits)>& on_wait);
  /// Sends a message after all that was dealt.
  void send(wire::Frame frame);
  /// Sends the last message. Slots that come back are given up from now on.
  void finish(wire::Frame frame);

  /// From the event loop.
  void took(std::int64_t batches);
  /// False when the client never had such a slot.
  bool release(const std::vector<std::int64_t>& slots);
  /// The client is gone, or the flow is to end.
  void close();
  bool closed() const;
  /// What is to be sent, in order.
  std::vector<wire::Frame> take_messages();

  const SlotMemory& memory() const { return *memory_; }
  int prefetch() const { return prefetch_; }

 private:
  void queue_batches();

  const std::unique_ptr<SlotMemory> memory_;
  const int prefetch_;
  const std::function<void()> notify_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t may_send_;
  bool closed_ = false;
  bool finished_ = false;
  bool notified_ = false;
  feed::Batches batches_;            ///< That were dealt since the last message.
  std::vector<wire::Frame> frames_;  ///< Before them.
};

}  // namespace headway::flow
