#pragma once

#include "feed/mirrored_memory.hpp"
#include "flow/budget.hpp"
#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace headway::flow {

/// Smaller rows are copied.
constexpr std::int64_t ring_row_bytes_min = std::int64_t{64} << 10;

/// Memory for large rows that clients map too. Rows are made in it one behind the other, in the
/// order in which they will be dealt: a batch of neighbours needs no copy. What is longest in the
/// ring is the first to go; while it is in use and the ring is full, rows are made elsewhere. Any
/// thread may call it.
class SharedRing : public std::enable_shared_from_this<SharedRing> {
 public:
  /// Null where the budget has no `bytes` to spare. Errors: `unavailable`.
  static Result<std::shared_ptr<SharedRing>> make(Budget& budget, std::uint64_t bytes);
  SharedRing(const SharedRing&) = delete;
  SharedRing& operator=(const SharedRing&) = delete;

  /// The next bytes, not set; null: there is no room.
  std::shared_ptr<arrow::Buffer> append(std::int64_t size);

  /// Bytes of `rows`, a buffer of the ring, that a client is to have: as long as this lives, they
  /// are its own.
  std::shared_ptr<arrow::Buffer> given(const std::shared_ptr<arrow::Buffer>& rows, std::int64_t offset,
                                       std::int64_t size);
  /// When no more is given: gives up the pages of bytes that nobody uses. Where a client has a
  /// part of what was appended together, nobody uses the rest. Pages come again with what is
  /// appended.
  void drop_free();
  /// A client may use what it was given although nobody here does any more: its pages stay for
  /// good.
  void abandon(const arrow::Buffer& given);

  /// Whether they are bytes of the ring.
  bool has(const std::uint8_t* from, std::int64_t size) const;
  /// From the ring's start. A range that goes beyond the ring's end continues at its start.
  std::uint64_t offset_of(const std::uint8_t* from) const;

  std::uint64_t bytes() const { return memory_.bytes(); }
  /// A descriptor for a client. Errors: `unavailable`.
  Result<wire::Fd> share() const;

 private:
  friend class RingBuffer;
  friend class RingPart;
  friend class RingPlace;
  SharedRing(wire::Fd file, feed::MirroredMemory memory, Credit credit)
      : file_(std::move(file)), memory_(std::move(memory)), credit_(std::move(credit)) {}

  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_abandoned = false;
  };
  struct Extent {
    std::uint64_t begin = 0;
    bool in_use = true;
    bool is_abandoned = false;
    std::vector<Part> given = {};  ///< By where they begin.
  };

  void let_go(std::uint64_t begin);
  Extent& extent_at(std::uint64_t position);
  std::uint64_t position_of(const std::uint8_t* from) const;
  void take_back(std::uint64_t begin, std::uint64_t end);
  void make_pages(std::uint64_t end);
  void drop_pages(std::uint64_t begin, std::uint64_t end);
  void wait_for(std::int64_t place);
  void pass(std::int64_t place);

  std::uint8_t* start() const { return reinterpret_cast<std::uint8_t*>(memory_.start()); }

  const wire::Fd file_;
  const feed::MirroredMemory memory_;
  const Credit credit_;

  std::mutex mutex_;
  std::deque<Extent> extents_;    ///< The oldest first. Positions only grow.
  std::uint64_t head_ = 0;        ///< Where the next one begins.
  std::uint64_t with_pages_ = 0;  ///< So many bytes have pages.

  std::mutex places_mutex_;
  std::condition_variable passed_;
  std::int64_t next_place_ = 0;          ///< The first that has not passed.
  std::set<std::int64_t> passed_early_;  ///< Those behind it that have.
};

/// The place of some rows in the order of a ring: bytes are appended in that order, by several
/// threads. Their sizes are announced first, so that those behind them need not wait until they are
/// made. A place that ends without its bytes is left out.
class RingPlace {
 public:
  /// `number`: 0, 1, 2, …, each one once.
  RingPlace(std::shared_ptr<SharedRing> ring, std::int64_t number) : ring_(std::move(ring)), number_(number) {}
  ~RingPlace();
  RingPlace(const RingPlace&) = delete;
  RingPlace& operator=(const RingPlace&) = delete;

  /// A row of so many bytes will come; before the first `next`.
  void announce(std::int64_t bytes) { announced_ += bytes; }
  /// The bytes of the next row. The first call waits for the places before this one. Null: there
  /// was no room, or less was announced.
  std::shared_ptr<arrow::Buffer> next(std::int64_t bytes);

  /// That of the rows which this thread makes; null: it makes none for a ring.
  static RingPlace*& current() {
    thread_local RingPlace* place = nullptr;
    return place;
  }

 private:
  const std::shared_ptr<SharedRing> ring_;
  const std::int64_t number_;
  std::int64_t announced_ = 0;
  bool has_passed_ = false;
  std::shared_ptr<arrow::Buffer> rows_;  ///< What was announced.
  std::int64_t given_ = 0;               ///< Bytes of `rows_`.
};

/// While it lives, this thread makes the rows of a place; null: of none.
class AtRingPlace {
 public:
  explicit AtRingPlace(RingPlace* place) { RingPlace::current() = place; }
  ~AtRingPlace() { RingPlace::current() = nullptr; }
  AtRingPlace(const AtRingPlace&) = delete;
  AtRingPlace& operator=(const AtRingPlace&) = delete;
};

/// Bytes for a row: at this thread's place of a ring, if it has one and there is room, else of
/// `pool`. Errors: OutOfMemory.
arrow::Result<std::shared_ptr<arrow::Buffer>> row_buffer(std::int64_t bytes, arrow::MemoryPool* pool);

}  // namespace headway::flow
