#include "driver/engines.hpp"

#include "driver/runtime.hpp"
#include "engine/bridge_provider.hpp"
#include "engine/hosted_engine.hpp"
#include "engine/node_pool.hpp"
#include "engine/supplied_pool.hpp"
#include "node/agent.hpp"

namespace headway::driver {

namespace asio = boost::asio;

namespace {

EngineParts hosted(asio::io_context& loop, const RuntimeConfig& config, node::AgentSink& sink) {
  auto host = std::move(node::HostLink::open(loop, config.host_fd).value());
  node::HostLink& link = *host;
  EngineParts parts{std::make_unique<engine::HostedEngine>(std::move(host)), link.node_id(), nullptr};
  parts.agent = std::make_unique<node::Agent>(loop, config.factory, sink, &link);
  return parts;
}

EngineParts with_this_machine(std::unique_ptr<engine::Engine> engine, asio::io_context& loop,
                              const RuntimeConfig& config, node::AgentSink& sink) {
  node::NodeResources here = node::detect_resources(config.num_cpus, config.num_gpus, config.resources, config.labels);
  // Ranks of other machines must reach what listens here.
  if (config.join) here.node_ip = reachable_ip(config.join->listen.host);
  EngineParts parts{std::move(engine), here.node_id, std::make_unique<node::Agent>(loop, config.factory, sink)};
  parts.engine->add(std::move(here));
  return parts;
}

EngineParts pooled(asio::io_context& loop, const RuntimeConfig& config, node::AgentSink& sink) {
  return with_this_machine(std::make_unique<engine::NodePool>(config.join.has_value()), loop, config, sink);
}

}  // namespace

EngineFactory default_engine(const RuntimeConfig& config) {
  if (config.host_fd >= 0) return hosted;
  if (!config.bridge) return pooled;
  engine::NodeSupply::Settings settings;
  settings.idle_limit = config.idle_limit;
  return engine_with([bridge = *config.bridge] { return std::make_unique<engine::BridgeProvider>(bridge); }, settings);
}

EngineFactory engine_with(ProviderFactory provider, engine::NodeSupply::Settings settings) {
  return [provider = std::move(provider), settings](asio::io_context& loop, const RuntimeConfig& config,
                                                    node::AgentSink& sink) {
    const auto warn = [&sink](const std::string& text) { sink.notice(text); };
    EngineParts parts =
        with_this_machine(std::make_unique<engine::SuppliedPool>(loop, provider(), warn, settings), loop, config, sink);
    // No CPU of this machine is offered, so even what needs none runs elsewhere.
    if (config.num_cpus == 0) parts.engine->drain(parts.node_id);
    return parts;
  };
}

}  // namespace headway::driver
