#pragma once

#include "feed/connection.hpp"
#include "feed/feed_messages.hpp"
#include "feed/handover.hpp"
#include "feed/slot.hpp"

#include <headway/result.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headway::feed {

/// What a layout message says, with the schema as Arrow's IPC serializes it.
struct KnownLayout {
  Layout layout;
  wire::Blob schema;
};

/// A failure that the data process reports, with the pickled exception of the user's where it is
/// one.
struct Failure {
  Failed failed;
  wire::Blob exception;
};

/// `Error` for what went wrong on this side, `Failure` for what the data process reports.
template <class T>
struct Outcome {
  Result<T> value;
  std::shared_ptr<const Failure> failure;  ///< Beside an error that the data process reported.
};

class StreamMemory;

/// Called while a wait lasts, now and then, with how far the data process is.
using Progressing = std::function<void(const FlowCounters&)>;

/// Where a stream is after a batch. It does not keep the batch.
class Place {
 public:
  Place(std::shared_ptr<const Json> cursor, const BatchInSlot& batch) : cursor_(std::move(cursor)), batch_(batch) {}
  /// As JSON.
  std::string cursor() const;

 private:
  std::shared_ptr<const Json> cursor_;  ///< At the stream's start.
  BatchInSlot batch_;
};

/// Rows in memory that the data process shares with this one. Writable, and nobody else's. When
/// the last owner lets it go, the data process may use the memory again.
class Batch {
 public:
  Batch(std::shared_ptr<StreamMemory> stream, const BatchInSlot& place, std::span<std::byte> memory, SlotView tables,
        std::shared_ptr<const KnownLayout> layout)
      : stream_(std::move(stream)),
        place_(place),
        memory_(memory),
        tables_(std::move(tables)),
        layout_(std::move(layout)) {}
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::int64_t rows() const { return place_.rows; }
  /// What buffers are parts of. Where some lie outside the slot, nothing between them may be read.
  std::span<std::byte> memory() const { return memory_; }
  const std::vector<SlotNode>& nodes() const { return tables_.nodes; }
  const std::vector<SlotBuffer>& buffers() const { return tables_.buffers; }
  const std::shared_ptr<const KnownLayout>& layout() const { return layout_; }
  Place place() const;

 private:
  std::shared_ptr<StreamMemory> stream_;
  BatchInSlot place_;
  std::span<std::byte> memory_;
  SlotView tables_;
  std::shared_ptr<const KnownLayout> layout_;
};

/// Batches of one epoch, as they come. One thread calls `next` at a time.
class Stream {
 public:
  /// Does not wait: errors of the plan come with the first `next`.
  static Result<std::unique_ptr<Stream>> open(const std::string& address, const Hello& hello, const Open& open,
                                              wire::Blob blobs);
  ~Stream();

  /// Waits for the next batch; null at the end. After an error or the end it returns the same
  /// again.
  Outcome<std::shared_ptr<Batch>> next(const Interrupted& interrupted, const Progressing& progressing = nullptr);

  /// The bytes of the next batch's memory, if that batch is there; 0: `next` may wait.
  std::uint64_t next_bytes() const;

  /// Any thread. Batches live on.
  void close();

  /// Once the end has come: rows that no client got, and what the epoch's statistics say.
  const End& end() const { return end_; }

  /// How long this client has waited for batches since its first one came.
  RankCounters waits() const;
  /// What the stages have done, as far as the data process has said by now. It is asked now and
  /// then, while a wait lasts and as batches are taken.
  const FlowCounters& counters() const { return ended_ ? end_.stats : counters_; }

 private:
  Stream(std::shared_ptr<Connection> connection, std::shared_ptr<StreamMemory> memory)
      : connection_(std::move(connection)), memory_(std::move(memory)) {}
  Result<void> take(wire::Frame& frame);
  Result<std::shared_ptr<Batch>> make(const BatchInSlot& place);
  Result<std::shared_ptr<const KnownLayout>> wait_for_layout(std::uint32_t id);
  Outcome<std::shared_ptr<Batch>> wait_for_next(const Interrupted& interrupted, const Progressing& progressing);
  /// The next message; nothing when a batch was dealt instead, or the data process was asked for
  /// its progress meanwhile.
  Result<std::optional<wire::Frame>> receive(const Interrupted& interrupted,
                                             std::chrono::steady_clock::time_point& ask);
  std::optional<BatchInSlot> take_batch();
  void look();
  void count_silence(double seconds);
  void look_now_and_then();

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<StreamMemory> memory_;
  std::map<std::uint32_t, std::shared_ptr<const KnownLayout>> layouts_;  ///< By id.
  bool ended_ = false;
  End end_;
  std::optional<Error> error_;
  std::shared_ptr<const Failure> failure_;
  FlowCounters counters_;
  bool asked_ = false;    ///< For counters to come: one question at a time is under way.
  double silence_s_ = 0;  ///< Since the question that has no answer.
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> first_;  ///< When the first batch came.
  Clock::time_point last_{};                ///< When the loop last had a batch, or the end.
  Clock::duration waited_{};
  Clock::time_point look_at_{};
  Clock::duration look_each_ = looks_first;
  static constexpr auto looks_first = std::chrono::milliseconds(250);
  static constexpr auto looks_most = std::chrono::seconds(1);
};

struct Reply {
  Json value;
  wire::Blob blob;
};

/// Names the files of a write: so many, from the file `first` on.
using Naming = std::function<Result<std::vector<std::string>>(std::uint64_t first, std::uint64_t count)>;

/// Asks one question (an Ask or a Run as a frame) on a connection that ends with the answer.
/// `naming` is for a write whose client names its files.
Outcome<Reply> ask(const std::string& address, const Hello& hello, const wire::Frame& question,
                   const Interrupted& interrupted, const Progressing& progressing = nullptr,
                   const Naming& naming = nullptr);

}  // namespace headway::feed
