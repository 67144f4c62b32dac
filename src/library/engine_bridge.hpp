#pragma once

#include "core/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::library {

/// An engine, as Python has checked it (python/headway/_engines/for_programs.py).
struct FoundEngine {
  std::string name;
  std::vector<std::string> command;  ///< Starts the bridge.
  JsonObject options;
  double idle_s = 60;
};
BOOST_DESCRIBE_STRUCT(FoundEngine, (), (name, command, options, idle_s))

/// Asks Python about an engine, whose nodes are to run this program as their agents. Errors:
/// `invalid_argument`, with Python's words about an argument; `unavailable`: there is no Python
/// with the package headway.
Result<FoundEngine> find_engine(const std::string& address, const std::string& options_json);

}  // namespace headway::library
