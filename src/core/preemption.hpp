#pragma once

#include <headway/preemption.hpp>

#include "core/json.hpp"

#include <string_view>

namespace headway {

/// The kind of the collective call by which ranks ask for it.
inline constexpr std::string_view preemption_question = "get_preemption_info";

BOOST_DESCRIBE_STRUCT(PreemptionInfo, (), (deadline_ms, preempted_node_to_ranks))

}  // namespace headway
