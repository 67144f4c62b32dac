#pragma once

#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

/// How batches go to a client, and slots come back, without a message for each: by rings in the
/// first bytes of a stream's memory, which the data process and the client map. Each ring has one
/// writer and one reader. A system call is needed only where one end waits for the other.
namespace headway::feed {

/// A batch in the stream's memory, with the cursor after it.
struct BatchInSlot {
  std::int64_t slot = 0;
  std::uint64_t offset = 0;  ///< Of the slot within the memory.
  std::uint64_t size = 0;    ///< Of the slot.
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;
  std::int64_t row = 0;
  std::int64_t rows_before = 0;
  std::int64_t batches = 0;
};

/// What both ends see. Positions in the rings only grow. Places for batches follow it.
struct HandoverRings {
  static constexpr std::size_t returns_max = 512;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::uint64_t places = 0;  ///< For batches; a power of two.

  // Written by the data process.
  alignas(64) std::atomic<std::uint64_t> dealt{0};
  std::atomic<std::uint64_t> collected{0};  ///< Slots that it has taken back.
  std::atomic<std::uint32_t> finished{0};   ///< No batch is dealt any more.

  // Written by the client.
  alignas(64) std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> returned{0};  ///< Slots that it has given back.
  std::array<std::int64_t, returns_max> returns{};

  // Written by both: who waits, and what is rung then.
  alignas(64) std::atomic<std::uint64_t> wake_at{never};  ///< The `taken` that is waited for.
  std::atomic<std::uint32_t> bell{0};                     ///< A futex.
  std::atomic<std::uint32_t> client_waits{0};             ///< For the doorbell, an eventfd.
  /// The data process is to be woken by whatever the client does next.
  std::atomic<std::uint32_t> wake_at_any{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// The end of the data process. One thread deals; others may call what says so.
class DealingEnd {
 public:
  /// Bytes of the rings with at least so many places for batches.
  static std::uint64_t bytes_for(std::uint64_t places);

  /// `memory`: zeros that outlive this, of `bytes_for` some places. Errors: `unavailable`.
  static Result<DealingEnd> make(std::span<std::byte> memory);

  std::uint64_t places() const { return rings_->places; }
  /// Dealt and not taken. More than `places()`: the client has damaged the rings.
  std::uint64_t ahead() const { return dealt_ - rings_->taken.load(); }
  /// Needs ahead() < places().
  void deal(const BatchInSlot& batch);
  /// Waits until the client has at most so many before it, or until `ends` says true after a
  /// `ring`.
  void wait_until_ahead(std::uint64_t most, const std::function<bool()>& ends);

  /// Waits until `is_enough`, which is asked whenever the client takes a batch, gives a slot back
  /// or waits, and after a `ring`.
  void wait_until(const std::function<bool()>& is_enough);
  /// Whether the client waits for a batch and does nothing else.
  bool client_waits() const { return rings_->client_waits.load() != 0; }

  /// Any thread: ends a wait.
  void ring();
  /// Any thread: the client says by messages from now on what it gives back.
  void finish() { rings_->finished.store(1); }
  /// Any thread, one at a time: the slots that have come back. Errors: `corrupted`.
  Result<void> collect(const std::function<Result<void>(std::int64_t slot)>& give_back);

  /// What the client polls. Errors: `unavailable`.
  Result<wire::Fd> share_doorbell() const;

 private:
  DealingEnd(HandoverRings* rings, wire::Fd doorbell) : rings_(rings), doorbell_(std::move(doorbell)) {}

  HandoverRings* rings_;
  wire::Fd doorbell_;
  std::uint64_t dealt_ = 0;
};

/// The client's end. One thread takes.
class TakingEnd {
 public:
  /// Maps the rings at the start of `memory`, `bytes` long. Errors: `corrupted`, `unavailable`.
  static Result<TakingEnd> map(const wire::Fd& memory, std::uint64_t bytes, wire::Fd doorbell);
  TakingEnd(TakingEnd&& other) noexcept;
  TakingEnd& operator=(TakingEnd&&) = delete;
  ~TakingEnd();

  /// The next batch, if one was dealt. The data process may deal another one for it.
  std::optional<BatchInSlot> take();
  /// The batch that `take` would give.
  std::optional<BatchInSlot> peek() const;
  /// Before the doorbell is polled. False: a batch is there.
  bool begin_wait();
  void end_wait();
  int doorbell() const { return doorbell_.get(); }

  enum class Returned {
    quietly,
    announce,   ///< The data process does not look by itself any more: a message has to say so.
    by_message  ///< There is no room for the slot.
  };
  /// Any thread, one at a time.
  Returned give_back(std::int64_t slot);

 private:
  TakingEnd(std::span<std::byte> memory, wire::Fd doorbell);
  void wake_if_any();

  std::span<std::byte> memory_;
  HandoverRings* rings_;
  std::uint64_t places_;
  wire::Fd doorbell_;
};

}  // namespace headway::feed
