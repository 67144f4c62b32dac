#pragma once

#include "control/run_view.hpp"
#include "dashboard/run_record.hpp"

#include <optional>
#include <string>

namespace headway::dashboard {

/// The rank that the others wait for, and what that costs. All that speaks of a slow rank has its
/// figures from here: verdicts, causes, the heat map, `headway runs` and `headway top`.
struct Straggler {
  int rank = 0;
  std::string name;  ///< "rank 5 on node-b".
  /// "rank 5 on node-b was 2.4 times slower than the others: about 10 of the 23 minutes were spent
  /// waiting for it".
  std::string words;
  /// What it did: "took 1.37 s for its own part of a step (without waiting), the others 0.58 s".
  std::string detail;
  double behind_s = 0;  ///< Its own part of a step is longer by this than that of the median rank.
  /// About how long the others waited for it: `behind_s` in each step, but no longer than they
  /// waited at all.
  double lost_s = 0;
  /// When it became slow; `words` and `detail` are of the time since then. Unset: it was so in
  /// about all of the attempt, is so no more, or that is not known.
  std::optional<double> since_unix_s;
};
BOOST_DESCRIBE_STRUCT(Straggler, (), (rank, name, words, detail, behind_s, lost_s, since_unix_s))

/// Of the current attempt of a run at work. Unset: no rank is clearly slower than the others, or it
/// is not known what they wait for.
std::optional<Straggler> straggler_of(const control::RunView& view);

/// Of the newest steps that a record has. `over`: it speaks of a run that has ended.
std::optional<Straggler> straggler_in(const RunRecord& record, bool over);

/// The view's while the run is at work, but where the record says since when, else the record's.
std::optional<Straggler> straggler_now(const control::RunView& view, const RunRecord& record);

}  // namespace headway::dashboard
