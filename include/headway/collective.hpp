#pragma once

#include <headway/export.hpp>

#include <string>

/// What all ranks do together, through the driver: for coordination, not for gradients. Every rank
/// must make the same calls in the same order. A rank that has returned, or that calls another of
/// these, fails the run with the ranks' names instead of leaving the others to wait. One that waits
/// in `report` meanwhile does not: another thread of it may still come.
namespace headway {

/// Returns when every rank has called it. Throws `BadResult` (`invalid_argument`) outside of a
/// training loop, or from two threads at once.
HEADWAY_API void barrier();

/// Returns the bytes that rank `root` gave, in every rank; what others give is not looked at. At
/// most 16 GiB, though it is meant for kilobytes. Throws as `barrier`, and when `root` is no rank
/// of the group.
///
///     std::string id = headway::broadcast(headway::context().world_rank == 0 ? make_id() : "");
HEADWAY_API std::string broadcast(std::string bytes, int root = 0);

}  // namespace headway
