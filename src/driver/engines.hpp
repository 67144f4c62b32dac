#pragma once

#include "engine/engine.hpp"
#include "engine/node_provider.hpp"
#include "engine/node_supply.hpp"
#include "node/node_agent.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <memory>
#include <string>

namespace headway::driver {

struct RuntimeConfig;

/// What a runtime stands on: who gives it slots, and who starts workers on this machine.
struct EngineParts {
  std::unique_ptr<engine::Engine> engine;  ///< With this machine in it, where it has nodes.
  std::string node_id;                     ///< This machine's.
  std::unique_ptr<node::NodeAgent> agent;  ///< This machine's. It is gone before the engine is.
};

/// Makes them, before the loop runs. `sink` hears of workers and of what the user should read, on
/// the loop.
using EngineFactory =
    std::function<EngineParts(boost::asio::io_context& loop, const RuntimeConfig& config, node::AgentSink& sink)>;

/// This machine, the nodes that join, and those of an engine (`RuntimeConfig::bridge`). Inside a
/// worker (`RuntimeConfig::host_fd`): the slots and the workers of its driver.
EngineFactory default_engine(const RuntimeConfig& config);

/// This machine, the nodes that join, and those that a provider brings; RuntimeConfig::join is set.
using ProviderFactory = std::function<std::unique_ptr<engine::NodeProvider>()>;
EngineFactory engine_with(ProviderFactory provider, engine::NodeSupply::Settings settings = {});

}  // namespace headway::driver
