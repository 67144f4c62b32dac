#include "flow/outlet.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {
namespace {

/// Of small batches so many bytes are made ahead, where the prefetch alone would be less.
constexpr std::uint64_t ahead_bytes = 256 << 10;
constexpr std::uint64_t places_min = 64;
constexpr std::uint64_t places_max = 1 << 16;
/// Where memory is full, no more than one batch waits for the client, if it is larger than this,
/// and the next is made when the client has let go of it, or waits.
constexpr std::uint64_t large_batch = 8 << 20;

/// Batches that may wait for the client.
std::uint64_t waiting_of(int prefetch) { return static_cast<std::uint64_t>(std::max(prefetch, 0)); }

Error unknown_slot() { return {ErrorKind::corrupted, "a client gave back a slot that it did not have"}; }

}  // namespace

Result<std::shared_ptr<Outlet>> Outlet::make(Budget& budget, int prefetch, std::function<void()> notify) {
  const std::uint64_t places = std::clamp(waiting_of(prefetch) + 1, places_min, places_max);
  const std::uint64_t head_size = feed::DealingEnd::bytes_for(places);
  Result<std::unique_ptr<SlotMemory>> memory = SlotMemory::make(budget, head_size);
  if (!memory) return memory.error();
  Result<feed::DealingEnd> rings = feed::DealingEnd::make((*memory)->head());
  if (!rings) return rings.error();
  return std::shared_ptr<Outlet>(new Outlet(std::move(*memory), std::move(*rings), prefetch, std::move(notify)));
}

Outlet::Outlet(std::unique_ptr<SlotMemory> memory, feed::DealingEnd rings, int prefetch, std::function<void()> notify)
    : memory_(std::move(memory)), rings_(std::move(rings)), prefetch_(prefetch), notify_(std::move(notify)) {}

Outlet::~Outlet() { (void)collect(); }

std::uint64_t Outlet::ahead_max(std::uint64_t batch_size) const {
  const std::uint64_t small = std::min(places_min, ahead_bytes / std::max<std::uint64_t>(batch_size, 1));
  return std::min(std::max(waiting_of(prefetch_) + 1, small), rings_.places());
}

/// A client that waits may keep all batches that it has had: no other slot will come back. While a
/// client uses a large one, it does not need the next: both would be there at once.
bool Outlet::is_needed(bool others) {
  if (closed_ || !collect() || rings_.ahead() > rings_.places()) return true;
  if (rings_.ahead() > 0) return false;
  const SlotsInUse used = memory_->in_use();
  return rings_.client_waits() || used.count == 0 || (used.count == 1 && (others || used.bytes <= large_batch));
}

void Outlet::wait_for_need(bool others) {
  rings_.wait_until([this, others] { return is_needed(others); });
  memory_->drop_free_slots();
}

Result<bool> Outlet::deal(const SlotBatch& batch, std::uint32_t layout, feed::BatchInSlot place,
                          const std::function<void(bool waits)>& on_wait) {
  const bool is_short = batch.size() > large_batch && collect() && !memory_->has_room(batch.size());
  const std::uint64_t most = is_short ? 1 : ahead_max(batch.size() + batch.in_ring().bytes);
  if (!closed_ && rings_.ahead() >= most) {
    // Where several may wait, the client has half of them before it wakes this thread.
    const std::uint64_t left = std::max(waiting_of(prefetch_), most / 2);
    on_wait(true);
    rings_.wait_until_ahead(std::min(left, most - 1), [this] { return closed(); });
    on_wait(false);
  }
  if (closed_) return false;
  if (rings_.ahead() >= rings_.places())
    return Error{ErrorKind::corrupted, "a client took batches that it did not get"};
  if (const Result<void> collected = collect(); !collected) return collected.error();
  const Result<Slot> slot = memory_->take(batch.size());
  if (!slot) return slot.error();
  batch.write(slot->memory, layout);
  place.slot = slot->id;
  place.offset = slot->offset;
  place.size = slot->size;
  if (batch.in_ring().bytes > 0) memory_->keep_with(slot->id, batch.in_ring().buffers);
  place.rows = batch.rows();
  rings_.deal(place);
  return true;
}

Result<void> Outlet::open(Json cursor, const std::shared_ptr<SharedRing>& ring) {
  memory_->set_ring(ring);
  Result<wire::Fd> memory = memory_->share();
  if (!memory) return memory.error();
  Result<wire::Fd> doorbell = rings_.share_doorbell();
  if (!doorbell) return doorbell.error();
  wire::Frame frame = wire::to_frame(feed::Opened{std::move(cursor), memory_->head().size()});
  frame.fds.push_back(std::move(*memory));
  frame.fds.push_back(std::move(*doorbell));
  if (ring != nullptr) {
    Result<wire::Fd> rows = ring->share();
    if (!rows) return rows.error();
    frame.fds.push_back(std::move(*rows));
  }
  send(std::move(frame));
  return {};
}

void Outlet::send(wire::Frame frame) {
  bool notify = false;
  {
    const std::lock_guard lock(mutex_);
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
  rings_.finish();
  (void)collect();
  memory_->drop_free();
  send(std::move(frame));
}

Result<void> Outlet::collect() {
  const std::lock_guard lock(collecting_);
  return rings_.collect(
      [this](std::int64_t slot) { return memory_->give_back(slot) ? Result<void>() : Result<void>(unknown_slot()); });
}

bool Outlet::release(const std::vector<std::int64_t>& slots) {
  if (!collect()) return false;
  if (!std::ranges::all_of(slots, [this](std::int64_t slot) { return memory_->give_back(slot); })) return false;
  const std::lock_guard lock(mutex_);
  if (finished_) memory_->drop_free();
  return true;
}

void Outlet::close() {
  closed_ = true;
  rings_.ring();
}

std::vector<wire::Frame> Outlet::take_messages() {
  const std::lock_guard lock(mutex_);
  notified_ = false;
  return std::exchange(frames_, {});
}

}  // namespace headway::flow
