#include "flow/outlet.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {

Outlet::Outlet(std::unique_ptr<SlotMemory> memory, int prefetch, std::function<void()> notify)
    : memory_(std::move(memory)),
      prefetch_(prefetch),
      notify_(std::move(notify)),
      may_send_(std::max(prefetch, 0) + 1) {}

Result<bool> Outlet::deal(const SlotBatch& batch, feed::BatchInSlot place,
                          const std::function<void(bool waits)>& on_wait) {
  {
    std::unique_lock lock(mutex_);
    const auto may_go = [this] { return closed_ || may_send_ > 0; };
    if (!may_go()) {
      on_wait(true);
      changed_.wait(lock, may_go);
      on_wait(false);
    }
    if (closed_) return false;
    --may_send_;
  }
  const Result<Slot> slot = memory_->take(batch.size());
  if (!slot) return slot.error();
  batch.write(slot->memory, 0);
  place.slot = slot->id;
  place.offset = slot->offset;
  place.size = slot->size;
  place.rows = batch.rows();
  bool notify = false;
  {
    const std::lock_guard lock(mutex_);
    batches_.batches.push_back(place);
    notify = !std::exchange(notified_, true);
  }
  if (notify) notify_();
  return true;
}

void Outlet::send(wire::Frame frame) {
  bool notify = false;
  {
    const std::lock_guard lock(mutex_);
    queue_batches();
    frames_.push_back(std::move(frame));
    notify = !std::exchange(notified_, true);
  }
  if (notify) notify_();
}

void Outlet::finish(wire::Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  memory_->drop_free_ones();
  send(std::move(frame));
}

void Outlet::queue_batches() {
  if (batches_.batches.empty()) return;
  frames_.push_back(wire::to_frame(std::exchange(batches_, {})));
}

void Outlet::took(std::int64_t batches) {
  {
    const std::lock_guard lock(mutex_);
    may_send_ += batches;
  }
  changed_.notify_all();
}

bool Outlet::release(const std::vector<std::int64_t>& slots) {
  if (!std::ranges::all_of(slots, [this](std::int64_t slot) { return memory_->give_back(slot); })) return false;
  const std::lock_guard lock(mutex_);
  if (finished_) memory_->drop_free_ones();
  return true;
}

void Outlet::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool Outlet::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::vector<wire::Frame> Outlet::take_messages() {
  const std::lock_guard lock(mutex_);
  notified_ = false;
  queue_batches();
  return std::exchange(frames_, {});
}

}  // namespace headway::flow
