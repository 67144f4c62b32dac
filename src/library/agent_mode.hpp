#pragma once

#include "node/factory.hpp"

#include <string>
#include <vector>

namespace headway::library {

/// The first argument of a program that is to be an agent.
inline constexpr const char* agent_argument = "--headway-agent";

/// Starts this program as an agent, without the arguments that say where it joins.
std::vector<std::string> agent_command();

/// This process's whole life as an agent process, with the arguments of `headway-agent` after
/// `agent_argument`. Its workers come from `factory`. Exit codes are those of `headway-agent`.
[[noreturn]] void serve_as_agent(const std::vector<std::string>& arguments, node::FactoryConfig factory);

}  // namespace headway::library
