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
  std::string part;                         ///< Of the page: "steps", "data" or "stacks".
  std::optional<double> since_unix_s = {};  ///< Of a rank that became slow.
};
BOOST_DESCRIBE_STRUCT(Cause, (), (words, part, since_unix_s))

/// A rank that was slower than the others, data that came too slowly, where a rank hung.
std::vector<Cause> causes_of(const control::RunView& view, const RunRecord& record, const VerdictContext& context);

/// The first one of a run that has ended; unset where there is none. What is at work has
/// it in its verdict.
std::optional<Cause> first_cause(const control::RunView& view, const RunRecord& record, const VerdictContext& context);

}  // namespace headway::dashboard
