#pragma once

#include "feed/connection.hpp"
#include "feed/handover.hpp"
#include "feed/mirrored_memory.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sys/types.h>

namespace headway::feed {

/// The memory of one stream, mapped slot by slot as batches come in it. Batches share it: it is
/// unmapped when the stream and all of them are gone. Any thread may call it.
class StreamMemory {
 public:
  explicit StreamMemory(std::shared_ptr<Connection> connection);
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// What `opened` tells of, with its descriptors; not every stream has a ring. Errors:
  /// `corrupted`, `unavailable`.
  Result<void> use(Opened opened, wire::Fd memory, wire::Fd doorbell, const wire::Fd& ring);
  const std::shared_ptr<const Json>& cursor() const { return cursor_; }
  /// The client's end of the rings; null until they are there. Batches are taken by one thread.
  TakingEnd* rings() { return rings_ ? &*rings_ : nullptr; }

  /// The slot's bytes. Errors: `corrupted`, when the memory does not have them; `unavailable`.
  Result<std::span<std::byte>> slot(const BatchInSlot& place);

  /// Where rows lie outside slots; empty where there is no ring.
  const MirroredMemory& ring() const { return ring_; }

  /// The slot's last user is gone.
  void release(std::int64_t slot);

 private:
  struct Mapped {
    std::uint64_t offset = 0;
    std::span<std::byte> memory;
  };

  std::shared_ptr<Connection> connection_;
  const pid_t owner_;
  std::mutex mutex_;
  wire::Fd memory_;
  MirroredMemory ring_;
  std::optional<TakingEnd> rings_;
  std::mutex returning_;
  std::shared_ptr<const Json> cursor_;
  std::map<std::int64_t, Mapped> slots_;
};

}  // namespace headway::feed
