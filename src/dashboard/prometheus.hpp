#pragma once

#include "dashboard/answer.hpp"
#include "dashboard/overview.hpp"

namespace headway::dashboard {

/// What /metrics answers: the overview as Prometheus reads it.
Answer answer_metrics(const Overview* overview);

/// A text as a label's value.
std::string label_text(std::string_view text);

}  // namespace headway::dashboard
