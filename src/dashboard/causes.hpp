#pragma once

#include "dashboard/run_record.hpp"
#include "dashboard/verdict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headway::dashboard {

/// Why a run is as it is, beside its verdict: what a person would otherwise look for.
struct Cause {
  std::string words;
  std::string part;  ///< Of the page, that shows more: "steps", "data" or "stacks".
};
BOOST_DESCRIBE_STRUCT(Cause, (), (words, part))

/// A rank that was slower than the others, data that came too slowly, where a rank hung.
std::vector<Cause> causes_of(const control::RunView& view, const RunRecord& record, const VerdictContext& context);

/// The first one, in words, of a run that has ended; unset where there is none. What is at work has
/// it in its verdict.
std::optional<std::string> first_cause(const control::RunView& view, const RunRecord& record,
                                       const VerdictContext& context);

}  // namespace headway::dashboard
