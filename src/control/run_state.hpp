#pragma once

#include "core/json.hpp"

namespace headway::control {

/// Where a run stands. RunController says which state follows which.
enum class RunState {
  created,
  preparing,
  scheduling,
  starting,
  running,
  restarting,
  shutting_down,
  validating,
  closing,
  // The run has ended:
  finished,
  failed,
  aborted
};
BOOST_DESCRIBE_ENUM(RunState, created, preparing, scheduling, starting, running, restarting, shutting_down, validating,
                    closing, finished, failed, aborted)

/// Whether nothing follows any more.
constexpr bool is_over(RunState state) { return state >= RunState::finished; }

/// The state's name as journals and views write it.
const char* to_string(RunState state);

}  // namespace headway::control
