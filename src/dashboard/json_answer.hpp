#pragma once

#include "core/json.hpp"
#include "dashboard/answer.hpp"

namespace headway::dashboard {

inline Answer json_answer(const Json& json) { return {200, json_text(json)}; }

inline Error nothing_here() { return {ErrorKind::not_found, "there is nothing at this address"}; }

}  // namespace headway::dashboard
