#pragma once

#include <cstdint>
#include <map>
#include <optional>

/// One byte budget for all that a machine reads: a unit is read only with credit. A state machine;
/// its owner reads. Not thread-safe.
///
///     const int stream = credits.open_stream(floor);
///     if (auto grant = credits.start({stream, unit.bytes, compressed, dealer.is_needed_now(part)}))
///       read(unit);                          // else again after the next hold, release or close
///     credits.hold(grant->ticket, bytes);    // it has been read: what it really takes
///     credits.release(grant->ticket);        // its window was retired
///
/// Nothing gets stuck: each stream has a floor that the others leave to it, and a unit for which
/// its ranks wait always gets credit when nothing else of its stream is being read. That may be
/// more than the budget has; `Grant::over_bytes` says so, for a warning.
namespace headway::data {

/// Reading a unit takes this much of its decoded size at its peak: Arrow's buffers grow by powers
/// of two, and levels of nested columns come from the same pool (measured).
inline constexpr double peak_per_decoded = 1.5;

struct Need {
  int stream = 0;
  std::int64_t decoded_bytes = 0;     ///< As the metadata say.
  std::int64_t compressed_bytes = 0;  ///< What is read into memory; 0 for a mapped file.
  bool is_needed_now = false;         ///< The next batch of a rank waits for it.
};

struct Grant {
  std::uint64_t ticket = 0;
  std::int64_t bytes = 0;       ///< The credit.
  std::int64_t over_bytes = 0;  ///< So much more than the budget is in use now; 0: it is kept.
};

class Credits {
 public:
  explicit Credits(std::int64_t budget_bytes) : budget_(budget_bytes) {}

  /// `floor_bytes`: what the stream needs to make progress at all: its largest window. The id of
  /// the stream.
  int open_stream(std::int64_t floor_bytes);
  /// All that the stream has is released.
  void close_stream(int stream);

  /// What reading a unit may take at its peak: corrected by how large the stream's units were.
  std::int64_t estimate(const Need& need) const;

  /// Credit for a unit; nothing: not now. Tickets are not used again.
  std::optional<Grant> start(const Need& need);
  /// A unit has been read, or a function has made something else of it, and takes so many bytes
  /// now.
  void hold(std::uint64_t ticket, std::int64_t bytes);
  /// It takes nothing any more. A unit that could not be read is released too.
  void release(std::uint64_t ticket);

  /// The order in which to ask for credit: first the units for which ranks wait, then those of the
  /// stream that has the least.
  bool is_before(const Need& a, const Need& b) const;

  std::int64_t used_bytes() const { return used_; }
  std::int64_t peak_bytes() const { return peak_; }  ///< The most that was in use.
  std::int64_t used_by(int stream) const { return streams_.at(stream).used; }

 private:
  struct Stream {
    std::int64_t floor = 0;
    std::int64_t used = 0;
    int reading = 0;      ///< Units.
    double factor = 1.0;  ///< Bytes that a unit took per byte that its metadata promised; smoothed.
  };
  struct Ticket {
    int stream = 0;
    std::int64_t bytes = 0;
    std::int64_t promised = 0;  ///< While it is being read, else 0.
    bool is_reading = true;
  };

  std::int64_t left_to_others(int stream) const;
  void change(Ticket& ticket, std::int64_t bytes);

  std::int64_t budget_;
  std::int64_t used_ = 0;
  std::int64_t peak_ = 0;
  int next_stream_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::map<int, Stream> streams_;
  std::map<std::uint64_t, Ticket> tickets_;
};

}  // namespace headway::data
