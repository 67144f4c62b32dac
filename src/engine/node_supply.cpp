#include "engine/node_supply.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace headway::engine {

NodeSupply::Orders NodeSupply::look(Time now, Demand demand, const std::vector<std::string>& idle) {
  Orders orders;
  const auto again_at = [&](Time when) { orders.next = orders.next ? std::min(*orders.next, when) : when; };
  if (demand != told_) {
    if (told_at_ && now < *told_at_ + settings_.demand_pause) {
      again_at(*told_at_ + settings_.demand_pause);
    } else {
      told_ = demand;
      told_at_ = now;
      orders.want = std::move(demand);
    }
  }
  const std::unordered_set<std::string_view> is_idle(idle.begin(), idle.end());
  for (auto& [node_id, own] : own_) {
    if (own.given_back) continue;
    if (!is_idle.contains(node_id)) {
      own.idle_since.reset();
      continue;
    }
    if (!own.idle_since) own.idle_since = now;
    if (now < *own.idle_since + settings_.idle_limit) {
      again_at(*own.idle_since + settings_.idle_limit);
      continue;
    }
    own.given_back = true;
    orders.give_back.push_back(node_id);
  }
  return orders;
}

}  // namespace headway::engine
