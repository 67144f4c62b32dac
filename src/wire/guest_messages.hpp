#pragma once

#include "core/config.hpp"
#include "core/labels.hpp"
#include "core/worker.hpp"
#include "wire/frame_bounds.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What a runtime inside a worker (a guest: a trainer within a validation function) and the driver
/// that has started this worker (its host) say to each other. The guest has neither factory nor
/// ledger: it claims, and starts workers, at its host's.
namespace headway::wire {

struct GuestWarm {
  static constexpr std::string_view is = "GuestWarm";
  std::vector<std::string> preload;  ///< Which factory.
};
BOOST_DESCRIBE_STRUCT(GuestWarm, (), (preload))

/// Start a worker. Descriptors: its session socket, then the pipe for its output.
struct GuestSpawn {
  static constexpr std::string_view is = "GuestSpawn";
  static constexpr FrameBounds bounds = with_fds(2);
  std::int64_t worker_id = 0;  ///< The guest's number for it.
  std::vector<std::string> preload;
  std::map<std::string, std::string> env;
};
BOOST_DESCRIBE_STRUCT(GuestSpawn, (), (worker_id, preload, env))

struct GuestSignal {
  static constexpr std::string_view is = "GuestSignal";
  std::int64_t worker_id = 0;
  int signal = 9;
};
BOOST_DESCRIBE_STRUCT(GuestSignal, (), (worker_id, signal))

struct GuestAcquire {
  static constexpr std::string_view is = "GuestAcquire";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t holder = 0;  ///< The guest's number for it.
  int workers_min = 1;
  int workers_max = 1;
  Resources hard;
  double advised_cpus = 0;
  std::vector<Labels> selectors;
  /// As a user says it: "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
  std::string placement;
  Resources beside;  ///< Held beside the workers.
};
BOOST_DESCRIBE_STRUCT(GuestAcquire, (),
                      (holder, workers_min, workers_max, hard, advised_cpus, selectors, placement, beside))

struct GuestRelease {
  static constexpr std::string_view is = "GuestRelease";
  std::int64_t holder = 0;
};
BOOST_DESCRIBE_STRUCT(GuestRelease, (), (holder))

using ToHost = std::variant<GuestWarm, GuestSpawn, GuestSignal, GuestAcquire, GuestRelease>;

/// Whether the numbers of a guest's message make sense. Errors: `corrupted`.
Result<void> check_message(const ToHost& message);

/// The first thing that a guest hears, and again whenever something of it has changed by this
/// guest.
struct HostResources {
  static constexpr std::string_view is = "HostResources";
  std::string node_id;  ///< Of the machine that both are on.
  Resources total;
  Resources available;
};
BOOST_DESCRIBE_STRUCT(HostResources, (), (node_id, total, available))

/// The answer to GuestAcquire, when there is capacity.
struct HostGranted {
  static constexpr std::string_view is = "HostGranted";
  static constexpr FrameBounds bounds = user_values;
  std::int64_t holder = 0;
  std::vector<Slot> slots;
  std::vector<std::string> warnings;
};
BOOST_DESCRIBE_STRUCT(HostGranted, (), (holder, slots, warnings))

/// Not yet: it takes until others give back. At most once, before the answer.
struct HostPending {
  static constexpr std::string_view is = "HostPending";
  std::int64_t holder = 0;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(HostPending, (), (holder, reason))

/// … or when there can never be.
struct HostRefused {
  static constexpr std::string_view is = "HostRefused";
  std::int64_t holder = 0;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(HostRefused, (), (holder, reason))

struct HostSpawned {
  static constexpr std::string_view is = "HostSpawned";
  std::int64_t worker_id = 0;
  std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(HostSpawned, (), (worker_id, pid))

struct HostEnded {
  static constexpr std::string_view is = "HostEnded";
  std::int64_t worker_id = 0;
  ExitStatus status;
};
BOOST_DESCRIBE_STRUCT(HostEnded, (), (worker_id, status))

using FromHost = std::variant<HostResources, HostGranted, HostPending, HostRefused, HostSpawned, HostEnded>;

}  // namespace headway::wire
