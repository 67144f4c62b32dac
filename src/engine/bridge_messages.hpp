#pragma once

#include "core/json.hpp"
#include "engine/demand.hpp"

#include <optional>
#include <string>
#include <vector>

/// What a driver and the bridge to an engine say to each other: one JSON object a line, by `kind`.
/// A bridge is a program of Python (python/headway/_engines/protocol.py has its end).
namespace headway::engine {

/// A line is this long at most, in either direction.
inline constexpr std::size_t bridge_line_max = 1 << 20;

/// The first line that a bridge reads.
struct BridgeOpen {
  std::string kind = "open";
  int protocol = 1;
  std::string engine;
  std::string provider;  ///< Stays the same when the bridge is started again.
  std::string join;      ///< "host:port", for `headway-agent --join`.
  std::string token_file;
  std::string token;
  double lease_s = 0;
  JsonObject options;
};
BOOST_DESCRIBE_STRUCT(BridgeOpen, (), (kind, protocol, engine, provider, join, token_file, token, lease_s, options))

/// A NodeRequest, so many times.
struct BridgePart {
  int times = 1;
  int workers_min = 1;
  int workers_max = 1;
  Resources each;
  double advised_cpus = 0;
  std::vector<Labels> selectors;
  std::string placement;
  Resources beside;
};
BOOST_DESCRIBE_STRUCT(BridgePart, (),
                      (times, workers_min, workers_max, each, advised_cpus, selectors, placement, beside))

/// The whole demand, in place of the one before.
struct BridgeWant {
  std::string kind = "want";
  std::vector<BridgePart> parts;
  std::vector<BridgePart> could_use;
};
BOOST_DESCRIBE_STRUCT(BridgeWant, (), (kind, parts, could_use))

/// Of a node that the bridge has brought: "joined", "left" (it is no longer connected) or
/// "give_back" (nobody uses it: it is to be ended).
struct BridgeNode {
  std::string kind;
  std::string allocation;
  std::string node;
};
BOOST_DESCRIBE_STRUCT(BridgeNode, (), (kind, allocation, node))

/// "ping", which is answered by "pong", and "close": give back everything and end.
struct BridgeVerb {
  std::string kind;
};
BOOST_DESCRIBE_STRUCT(BridgeVerb, (), (kind))

BridgeWant to_want(const Demand& demand);

/// Anything that a bridge says: "ready", "pong", or "warn" and "failed" with a text.
struct BridgeSays {
  std::string kind;
  std::optional<std::string> text;
};
BOOST_DESCRIBE_STRUCT(BridgeSays, (), (kind, text))

/// A line that a bridge has written. The text can be shown as it is. Errors: `corrupted`, with the
/// line's beginning.
Result<BridgeSays> to_says(std::string_view line);

}  // namespace headway::engine
