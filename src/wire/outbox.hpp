#pragma once

#include "wire/frame.hpp"

#include <cstddef>
#include <deque>

namespace headway::wire {

/// Frames that wait to be sent, in order. Bounded: more waits only when the peer takes nothing any
/// more.
class Outbox {
 public:
  /// JSON, and raw bytes that many frames share: the latter count once where they follow each
  /// other.
  static constexpr std::size_t json_bytes_max = std::size_t{256} << 20;
  static constexpr std::size_t blob_bytes_max = std::size_t{16} << 30;

  /// Errors, and nothing is queued: `corrupted` when the frame is beyond the bounds of its kind,
  /// `unavailable` when more than the bounds waits already.
  Result<void> push(Frame frame);

  bool empty() const { return waiting_.empty(); }
  /// The next frame; not when empty.
  Frame pop();
  void clear();

 private:
  struct Waiting {
    Frame frame;
    std::size_t json_bytes = 0;
    std::size_t blob_bytes = 0;
  };

  std::deque<Waiting> waiting_;
  std::size_t json_bytes_ = 0;
  std::size_t blob_bytes_ = 0;
};

}  // namespace headway::wire
