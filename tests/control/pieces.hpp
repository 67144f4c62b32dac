#pragma once

#include "control/outbox.hpp"
#include "control/worker_group.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

/// What tests of the controller's pieces share: a group, and a look at what a piece has put into
/// the outbox.
namespace headway::control {

using namespace std::chrono_literals;

inline Slot slot_on(const std::string& node) { return {node, "host of " + node, "10.0.0.1", 1, {}}; }

inline WorkerGroup group_of(int workers, const std::string& node = "node-a") {
  return WorkerGroup::place(std::vector<Slot>(static_cast<std::size_t>(workers), slot_on(node)), Time{});
}

/// The commands of type C that were put into the outbox since the last look, which takes all.
template <class C>
std::vector<C> taken(Outbox& out) {
  std::vector<C> found;
  for (const Command& command : out.take()) {
    if (const C* it = std::get_if<C>(&command)) found.push_back(*it);
  }
  return found;
}

}  // namespace headway::control
