#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <memory>

namespace headway::driver {

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
  std::shared_ptr<const ShownEngine> now(const engine::Engine& engine);

 private:
  std::shared_ptr<const ShownEngine> last_;
  std::chrono::steady_clock::time_point taken_;
};

}  // namespace headway::driver
