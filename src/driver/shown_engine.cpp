#include "driver/shown_engine.hpp"

namespace headway::driver {

engine::EngineView view_of(const engine::Engine& engine, const Nodes& nodes, bool all_gpus) {
  engine::EngineView view = engine.view();
  for (engine::NodeView& each : view.nodes) {
    const bool with_gpus = all_gpus || node::has_gpus(each.node.total);
    if (const node::Use* use = nodes.use(each.node.node_id, with_gpus)) each.use = *use;
  }
  return view;
}

std::shared_ptr<const ShownEngine> EngineLooks::now(const engine::Engine& engine, const Nodes& nodes) {
  constexpr auto kept_for = std::chrono::seconds(2);
  const auto at = std::chrono::steady_clock::now();
  const bool is_large = last_ && last_->nodes_count > static_cast<std::int64_t>(ShownEngine::nodes_max);
  if (is_large && at - taken_ < kept_for) return last_;
  ShownEngine shown{view_of(engine, nodes, false), 0};
  shown.nodes_count = static_cast<std::int64_t>(shown.view.nodes.size());
  if (shown.view.nodes.size() > ShownEngine::nodes_max) shown.view.nodes.resize(ShownEngine::nodes_max);
  taken_ = at;
  last_ = std::make_shared<const ShownEngine>(std::move(shown));
  return last_;
}

}  // namespace headway::driver
