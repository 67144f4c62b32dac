#pragma once

#include "feed/connection.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

namespace headway::feed {

/// The memory of one stream, mapped slot by slot as batches come in it. Batches share it: it is
/// unmapped when the stream and all of them are gone. Any thread may call it.
class StreamMemory {
 public:
  explicit StreamMemory(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  void use(wire::Fd memory);
  void set_cursor(Json cursor) { cursor_ = std::move(cursor); }
  const Json& cursor() const { return cursor_; }

  /// The slot's bytes. Errors: `corrupted`, when the memory does not have them; `unavailable`.
  Result<std::span<std::byte>> slot(const BatchInSlot& place);

  /// The slot's last user is gone.
  void release(std::int64_t slot);

 private:
  struct Mapped {
    std::uint64_t offset = 0;
    std::span<std::byte> memory;
  };

  std::shared_ptr<Connection> connection_;
  std::mutex mutex_;
  wire::Fd memory_;
  Json cursor_;
  std::map<std::int64_t, Mapped> slots_;
};

}  // namespace headway::feed
