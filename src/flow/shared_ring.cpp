#include "flow/shared_ring.hpp"

#include "feed/slot.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace headway::flow {
namespace {

/// So many bytes get pages at once: each would be a separate fault.
constexpr std::uint64_t pages_at_once = std::uint64_t{4} << 20;

Error no_ring(const std::string& what) {
  return {ErrorKind::unavailable, "cannot " + what + " memory for rows: " + wire::reason_of(errno)};
}

}  // namespace

/// Lets its bytes go when the last user has.
class RingBuffer : public arrow::MutableBuffer {
 public:
  RingBuffer(std::shared_ptr<SharedRing> ring, std::uint64_t begin, std::uint8_t* data, std::int64_t size)
      : arrow::MutableBuffer(data, size), ring_(std::move(ring)), begin_(begin) {}
  ~RingBuffer() override { ring_->let_go(begin_); }

 private:
  const std::shared_ptr<SharedRing> ring_;
  const std::uint64_t begin_;
};

/// Takes its bytes back from the client with its end.
class RingPart : public arrow::Buffer {
 public:
  RingPart(std::shared_ptr<SharedRing> ring, std::uint64_t begin, const std::shared_ptr<arrow::Buffer>& rows,
           std::int64_t offset, std::int64_t size)
      : arrow::Buffer(rows, offset, size), ring_(std::move(ring)), begin_(begin) {}
  ~RingPart() override { ring_->take_back(begin_, begin_ + static_cast<std::uint64_t>(size())); }

 private:
  const std::shared_ptr<SharedRing> ring_;
  const std::uint64_t begin_;
};

Result<std::shared_ptr<SharedRing>> SharedRing::make(Budget& budget, std::uint64_t bytes) {
  bytes = (bytes + feed::slot_alignment - 1) / feed::slot_alignment * feed::slot_alignment;
  Credit credit;
  if (bytes == 0 || !budget.try_take(static_cast<std::int64_t>(bytes), credit)) return std::shared_ptr<SharedRing>();
  wire::Fd memory(memfd_create("headway-rows", MFD_CLOEXEC));
  if (!memory.is_open() || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) return no_ring("make");
  Result<feed::MirroredMemory> mapped = feed::MirroredMemory::map(memory, bytes);
  if (!mapped) return mapped.error();
  return std::shared_ptr<SharedRing>(new SharedRing(std::move(memory), std::move(*mapped), std::move(credit)));
}

std::shared_ptr<arrow::Buffer> SharedRing::append(std::int64_t size) {
  const auto count = static_cast<std::uint64_t>(size);
  const std::lock_guard lock(mutex_);
  const std::uint64_t used = extents_.empty() ? 0 : head_ - extents_.front().begin;
  if (count == 0 || count > bytes() - used) return nullptr;
  const std::uint64_t begin = std::exchange(head_, head_ + count);
  make_pages(head_);
  extents_.push_back({begin});
  return std::make_shared<RingBuffer>(shared_from_this(), begin, start() + begin % bytes(), size);
}

/// With the mutex held. An old kernel makes them one by one.
void SharedRing::make_pages(std::uint64_t end) {
  while (with_pages_ < std::min(end, bytes())) {
    const std::uint64_t count = std::min(pages_at_once, bytes() - with_pages_);
    (void)madvise(start() + with_pages_, count, MADV_POPULATE_WRITE);
    with_pages_ += count;
  }
}

void SharedRing::let_go(std::uint64_t begin) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::lower_bound(extents_, begin, {}, &Extent::begin);
  found->in_use = found->is_abandoned;
  while (!extents_.empty() && !extents_.front().in_use) extents_.pop_front();
}

/// With the mutex held: pages that lie within a range of positions as a whole.
void SharedRing::drop_pages(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t page = feed::slot_alignment;
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  while (begin < end) {
    const std::uint64_t offset = begin % bytes();
    const std::uint64_t count = std::min(end - begin, bytes() - offset);
    (void)fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(count));
    begin += count;
  }
}

/// With the mutex held. All bytes that are in use lie within one turn of the ring.
std::uint64_t SharedRing::position_of(const std::uint8_t* from) const {
  const std::uint64_t oldest = std::max(head_, bytes()) - bytes();
  return oldest + (offset_of(from) + bytes() - oldest % bytes()) % bytes();
}

/// With the mutex held: the one that has the byte, which is in use.
SharedRing::Extent& SharedRing::extent_at(std::uint64_t position) {
  return *std::prev(std::ranges::upper_bound(extents_, position, {}, &Extent::begin));
}

std::shared_ptr<arrow::Buffer> SharedRing::given(const std::shared_ptr<arrow::Buffer>& rows, std::int64_t offset,
                                                 std::int64_t size) {
  std::uint64_t begin = 0;
  {
    const std::lock_guard lock(mutex_);
    begin = position_of(rows->data() + offset);
    std::vector<Part>& parts = extent_at(begin).given;
    parts.insert(std::ranges::upper_bound(parts, begin, {}, &Part::begin),
                 {begin, begin + static_cast<std::uint64_t>(size)});
  }
  return std::make_shared<RingPart>(shared_from_this(), begin, rows, offset, size);
}

void SharedRing::take_back(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  std::vector<Part>& parts = extent_at(begin).given;
  const auto found = std::ranges::find_if(
      parts, [=](const Part& part) { return part.begin == begin && part.end == end && !part.is_abandoned; });
  if (found != parts.end()) parts.erase(found);
}

void SharedRing::drop_free() {
  const std::lock_guard lock(mutex_);
  std::uint64_t free_from = std::max(head_, bytes()) - bytes();
  const std::uint64_t end = free_from + bytes();
  const auto keep = [&](std::uint64_t from, std::uint64_t until) {
    drop_pages(free_from, from);
    free_from = std::max(free_from, until);
  };
  for (auto extent = extents_.begin(); extent != extents_.end(); ++extent) {
    if (!extent->in_use) continue;
    const auto next = std::next(extent);
    if (extent->given.empty()) keep(extent->begin, next == extents_.end() ? head_ : next->begin);
    for (const Part& part : extent->given) keep(part.begin, part.end);
  }
  drop_pages(free_from, end);
}

void SharedRing::abandon(const arrow::Buffer& given) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t begin = position_of(given.data());
  Extent& extent = extent_at(begin);
  extent.is_abandoned = true;
  std::ranges::find(extent.given, begin, &Part::begin)->is_abandoned = true;
}

bool SharedRing::has(const std::uint8_t* from, std::int64_t size) const {
  return from >= start() && from + size <= start() + 2 * bytes();
}

std::uint64_t SharedRing::offset_of(const std::uint8_t* from) const {
  return static_cast<std::uint64_t>(from - start()) % bytes();
}

Result<wire::Fd> SharedRing::share() const {
  wire::Fd copy = file_.copy();
  if (!copy.is_open()) return no_ring("share");
  return copy;
}

void SharedRing::wait_for(std::int64_t place) {
  std::unique_lock lock(places_mutex_);
  passed_.wait(lock, [&] { return next_place_ == place; });
}

void SharedRing::pass(std::int64_t place) {
  const std::lock_guard lock(places_mutex_);
  passed_early_.insert(place);
  while (passed_early_.erase(next_place_) != 0) ++next_place_;
  passed_.notify_all();
}

RingPlace::~RingPlace() {
  if (!has_passed_) ring_->pass(number_);
}

std::shared_ptr<arrow::Buffer> RingPlace::next(std::int64_t bytes) {
  if (!has_passed_) {
    ring_->wait_for(number_);
    rows_ = ring_->append(announced_);
    has_passed_ = true;
    ring_->pass(number_);
  }
  if (rows_ == nullptr || given_ + bytes > rows_->size()) return nullptr;
  auto row = arrow::SliceMutableBuffer(rows_, given_, bytes);
  given_ += bytes;
  if (given_ == rows_->size()) rows_ = nullptr;
  return row;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> row_buffer(std::int64_t bytes, arrow::MemoryPool* pool) {
  if (RingPlace* const place = RingPlace::current()) {
    if (auto buffer = place->next(bytes)) return buffer;
  }
  return arrow::AllocateBuffer(bytes, pool);
}

}  // namespace headway::flow
