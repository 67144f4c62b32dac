#pragma once

#include "feed/feed_messages.hpp"
#include "feed/handover.hpp"
#include "flow/slot_batch.hpp"
#include "flow/slot_memory.hpp"
#include "wire/frame.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace headway::flow {

/// One client's end of a flow: the flow's thread deals batches into rings that the client reads,
/// and the event loop sends messages.
class Outlet {
 public:
  /// `notify` has the event loop call `take_messages`, from any thread. `prefetch`: batches that
  /// may wait for the client beside the one that it uses; of small ones more, so that neither end
  /// waits for each. Errors: `unavailable`.
  static Result<std::shared_ptr<Outlet>> make(Budget& budget, int prefetch, std::function<void()> notify);
  ~Outlet();
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  /// Waits until the client takes another batch, and writes it to a slot. `place` has all but the
  /// slot; `layout` is the id of a layout that was sent. `on_wait` is called as the wait begins, if
  /// there is one, and as it ends. False: the client is gone, or the flow was stopped. Errors:
  /// `unavailable`, `corrupted`. One thread.
  Result<bool> deal(const SlotBatch& batch, std::uint32_t layout, feed::BatchInSlot place,
                    const std::function<void(bool waits)>& on_wait);
  /// Whether the client, or its end, needs a batch that was not dealt yet although memory is full:
  /// it has taken all others, and waits, or has one that it uses. A large one is enough for it,
  /// unless it has `others` beside it, which may need theirs first. Same thread as `deal`.
  bool is_needed(bool others);
  /// Waits for that. Gives up the memory of batches that have come back. Same thread as `deal`.
  void wait_for_need(bool others);
  /// The stream's first message: where batches will be. `ring`: what of them may lie outside slots;
  /// may be null. Any thread. Errors: `unavailable`.
  Result<void> open(Json cursor, const std::shared_ptr<SharedRing>& ring);
  /// Any thread.
  void send(wire::Frame frame);
  /// Sends the last message. Slots that come back are given up from now on.
  void finish(wire::Frame frame);

  /// From the event loop. False when the client never had such a slot.
  bool release(const std::vector<std::int64_t>& slots);
  /// The client is gone, or the flow is to end. Any thread.
  void close();
  bool closed() const { return closed_; }
  /// What is to be sent, in order.
  std::vector<wire::Frame> take_messages();

  int prefetch() const { return prefetch_; }

 private:
  Outlet(std::unique_ptr<SlotMemory> memory, feed::DealingEnd rings, int prefetch, std::function<void()> notify);
  std::uint64_t ahead_max(std::uint64_t batch_size) const;
  Result<void> collect();

  const std::unique_ptr<SlotMemory> memory_;
  feed::DealingEnd rings_;
  const int prefetch_;
  const std::function<void()> notify_;
  std::atomic<bool> closed_ = false;
  std::mutex collecting_;
  std::mutex mutex_;
  bool finished_ = false;
  bool notified_ = false;
  std::vector<wire::Frame> frames_;
};

}  // namespace headway::flow
