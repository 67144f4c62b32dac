#include "control/held_nodes.hpp"

#include <algorithm>

namespace headway::control {

bool HeldNodes::any_going() const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return lost_.contains(slot.node_id) || preemption_.leaving(slot.node_id);
  });
}

}  // namespace headway::control
