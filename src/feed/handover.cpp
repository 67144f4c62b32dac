#include "feed/handover.hpp"

#include <bit>
#include <cerrno>
#include <linux/futex.h>
#include <new>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace headway::feed {
namespace {

BatchInSlot& place_of(HandoverRings* rings, std::uint64_t places, std::uint64_t number) {
  auto* const first = reinterpret_cast<BatchInSlot*>(rings + 1);
  return first[number & (places - 1)];
}

std::uint64_t places_in(std::uint64_t bytes) {
  return bytes <= sizeof(HandoverRings) ? 0 : std::bit_floor((bytes - sizeof(HandoverRings)) / sizeof(BatchInSlot));
}

/// Both ends are threads of different processes, which std::atomic's own wait is not made for.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

void wake(std::atomic<std::uint32_t>& bell) {
  bell.fetch_add(1);
  futex(bell, FUTEX_WAKE, 1);
}

Error damaged(const std::string& what) {
  return {ErrorKind::corrupted, "the memory that a stream shares with the data process is damaged: " + what};
}

}  // namespace

std::uint64_t DealingEnd::bytes_for(std::uint64_t places) {
  return sizeof(HandoverRings) + std::bit_ceil(places) * sizeof(BatchInSlot);
}

Result<DealingEnd> DealingEnd::make(std::span<std::byte> memory) {
  wire::Fd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell.is_open()) {
    return Error{ErrorKind::unavailable, "cannot make an eventfd for batches: " + wire::reason_of(errno)};
  }
  auto* const rings = new (memory.data()) HandoverRings;
  rings->places = places_in(memory.size());
  return DealingEnd(rings, std::move(doorbell));
}

void DealingEnd::deal(const BatchInSlot& batch) {
  place_of(rings_, rings_->places, dealt_) = batch;
  rings_->dealt.store(++dealt_);
  if (rings_->client_waits.exchange(0) == 0) return;
  const std::uint64_t one = 1;
  (void)!::write(doorbell_.get(), &one, sizeof(one));
}

void DealingEnd::wait_until_ahead(std::uint64_t most, const std::function<bool()>& ends) {
  while (!ends() && ahead() > most && ahead() <= places()) {
    const std::uint32_t bell = rings_->bell.load();
    rings_->wake_at.store(dealt_ - most);
    if (!ends() && ahead() > most) futex(rings_->bell, FUTEX_WAIT, bell);
    rings_->wake_at.store(HandoverRings::never);
  }
}

void DealingEnd::wait_until(const std::function<bool()>& is_enough) {
  while (!is_enough()) {
    const std::uint32_t bell = rings_->bell.load();
    rings_->wake_at_any.store(1);
    if (!is_enough()) futex(rings_->bell, FUTEX_WAIT, bell);
    rings_->wake_at_any.store(0);
  }
}

void DealingEnd::ring() { wake(rings_->bell); }

Result<void> DealingEnd::collect(const std::function<Result<void>(std::int64_t slot)>& give_back) {
  const std::uint64_t returned = rings_->returned.load();
  std::uint64_t collected = rings_->collected.load();
  if (returned - collected > HandoverRings::returns_max) return damaged("more slots came back than there is room for");
  for (; collected != returned; ++collected) {
    const Result<void> given = give_back(rings_->returns[collected % HandoverRings::returns_max]);
    if (!given) return given;
  }
  rings_->collected.store(collected);
  return {};
}

Result<wire::Fd> DealingEnd::share_doorbell() const {
  wire::Fd copy = doorbell_.copy();
  if (!copy.is_open()) {
    return Error{ErrorKind::unavailable, "cannot share an eventfd for batches: " + wire::reason_of(errno)};
  }
  return copy;
}

Result<TakingEnd> TakingEnd::map(const wire::Fd& memory, std::uint64_t bytes, wire::Fd doorbell) {
  struct stat facts{};
  if (!memory.is_open() || ::fstat(memory.get(), &facts) != 0 || bytes > static_cast<std::uint64_t>(facts.st_size) ||
      bytes <= sizeof(HandoverRings) || !doorbell.is_open()) {
    return damaged("it has no room for batches");
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) {
    return Error{ErrorKind::unavailable, "cannot map the memory of a stream: " + wire::reason_of(errno)};
  }
  TakingEnd end({static_cast<std::byte*>(mapped), bytes}, std::move(doorbell));
  if (end.places_ == 0 || end.places_ != places_in(bytes)) return damaged("it has another number of places");
  return end;
}

TakingEnd::TakingEnd(std::span<std::byte> memory, wire::Fd doorbell)
    : memory_(memory),
      rings_(reinterpret_cast<HandoverRings*>(memory.data())),
      places_(rings_->places),
      doorbell_(std::move(doorbell)) {}

TakingEnd::TakingEnd(TakingEnd&& other) noexcept
    : memory_(std::exchange(other.memory_, {})),
      rings_(other.rings_),
      places_(other.places_),
      doorbell_(std::move(other.doorbell_)) {}

TakingEnd::~TakingEnd() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

std::optional<BatchInSlot> TakingEnd::peek() const {
  const std::uint64_t taken = rings_->taken.load(std::memory_order_relaxed);
  if (rings_->dealt.load() == taken) return std::nullopt;
  return place_of(rings_, places_, taken);
}

std::optional<BatchInSlot> TakingEnd::take() {
  const std::optional<BatchInSlot> batch = peek();
  if (!batch) return std::nullopt;
  const std::uint64_t taken = rings_->taken.load(std::memory_order_relaxed);
  rings_->taken.store(taken + 1);
  if (rings_->wake_at.load() <= taken + 1) {
    rings_->wake_at.store(HandoverRings::never);
    wake(rings_->bell);
  } else {
    wake_if_any();
  }
  return batch;
}

void TakingEnd::wake_if_any() {
  if (rings_->wake_at_any.load() == 0) return;
  rings_->wake_at_any.store(0);
  wake(rings_->bell);
}

bool TakingEnd::begin_wait() {
  rings_->client_waits.store(1);
  wake_if_any();
  return rings_->dealt.load() == rings_->taken.load();
}

void TakingEnd::end_wait() {
  rings_->client_waits.store(0);
  std::uint64_t rung = 0;
  (void)!::read(doorbell_.get(), &rung, sizeof(rung));
}

TakingEnd::Returned TakingEnd::give_back(std::int64_t slot) {
  const std::uint64_t returned = rings_->returned.load();
  if (returned - rings_->collected.load() >= HandoverRings::returns_max) return Returned::by_message;
  rings_->returns[returned % HandoverRings::returns_max] = slot;
  rings_->returned.store(returned + 1);
  wake_if_any();
  return rings_->finished.load() == 0 ? Returned::quietly : Returned::announce;
}

}  // namespace headway::feed
