#pragma once

#include "driver/nodes.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <memory>

namespace headway::driver {

/// What an engine has, and how much of it is in use. `all_gpus`: of GPUs that no node offers, too.
engine::EngineView view_of(const engine::Engine& engine, const Nodes& nodes, bool all_gpus);

/// What status.json has of the engine: its first nodes, and how many there are.
struct ShownEngine {
  static constexpr std::size_t nodes_max = 256;
  engine::EngineView view;
  std::int64_t nodes_count = 0;
};

/// Looks at the engine for many runs. Where there are more nodes than are shown, each look serves
/// for two seconds. On the loop.
class EngineLooks {
 public:
  std::shared_ptr<const ShownEngine> now(const engine::Engine& engine, const Nodes& nodes);

 private:
  std::shared_ptr<const ShownEngine> last_;
  std::chrono::steady_clock::time_point taken_;
};

}  // namespace headway::driver
