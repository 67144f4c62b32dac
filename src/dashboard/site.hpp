#pragma once

#include "dashboard/answer.hpp"
#include "dashboard/event_board.hpp"
#include "dashboard/target.hpp"

namespace headway::dashboard {

/// What a server serves. It outlives the server.
class Site {
 public:
  virtual ~Site() = default;
  /// A path below /api (and /metrics). On one of the server's two threads for answers; it may
  /// block.
  virtual Answer answer(const Target& target) = 0;
  virtual EventBoard& events() = 0;
};

}  // namespace headway::dashboard
