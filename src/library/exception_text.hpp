#pragma once

#include "core/worker.hpp"

namespace headway::library {

/// The exception that is being handled, as the driver tells it: its type, its words, the frames
/// that threw it, and what led to it (std::nested_exception). For a catch clause.
RankError describe_current_exception();

}  // namespace headway::library
