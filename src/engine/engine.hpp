#pragma once

#include "core/config.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headway::engine {

/// What an engine gives for one run: a slot a rank, in rank order.
struct Grant {
  std::vector<Slot> slots;
  std::vector<std::string> warnings;
};

/// Where nodes come from. An engine gives and takes; it never judges whether a node is alive. Used on the driver's loop alone;
/// verbs are idempotent and answer through callbacks, at once or later.
class Engine {
 public:
  using Granted = std::function<void(Result<Grant>)>;

  virtual ~Engine() = default;

  /// Asks for slots for `workers` claims, all or none. Answers once: a grant when there is room, in the order of asking, or
  /// `invalid_argument` at once when there can never be. Not at all when released before.
  virtual void acquire(std::int64_t holder, int workers, const WorkerClaim& claim, Granted granted) = 0;

  /// Gives back what `holder` has, or withdraws what it asked for.
  virtual void release(std::int64_t holder) = 0;

  virtual Resources total() const = 0;
  virtual Resources available() const = 0;
};

}  // namespace headway::engine
