#pragma once

#include "data/plan.hpp"

/// Rules of the optimiser. Each gives a plan with the same rows in the same order:
///
/// - projection down: a read gets the list of the columns that the plan needs;
/// - filter down: below columns that are made, dropped or renamed, and into the inputs of a union;
///   never below a limit, a shuffle, a sample, or a function;
/// - limit down: below what makes each row of one row (project, drop, `map`);
/// - fusing of expressions: a project over a project is one;
/// - fusing of functions: one worker applies several functions to the same batch (`then`).
///
/// A plan is checked against its schema before this: an optimised plan may read less than what the
/// given one would have refused. The identity of a plan is that of the plan as it was given.
namespace headway::data {

struct Rules {
  bool narrow_reads = true;
  bool lower_filters = true;
  bool lower_limits = true;
  bool fuse_projects = true;
  /// For a function host that applies `then`.
  bool fuse_functions = false;
};

Plan optimised(const Plan& plan, const Rules& rules = {});

}  // namespace headway::data
