#pragma once

#include <headway/preemption.hpp>

#include "core/json.hpp"

#include <string_view>

namespace headway {

/// Whether ranks ask for it by a collective call of this kind, which is the function's name in
/// their language: "get_preemption_info" in Python, "preemption_info" in C++.
inline bool asks_for_preemption(std::string_view kind) { return kind.ends_with("preemption_info"); }

BOOST_DESCRIBE_STRUCT(PreemptionInfo, (), (deadline_ms, preempted_node_to_ranks))

}  // namespace headway
