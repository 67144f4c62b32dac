#pragma once

namespace headway::sim {

/// The number of the planted bug that is awake (see bugs.txt); 0: none. Set before runs are
/// started.
extern int planted_bug;

}  // namespace headway::sim

#define HEADWAY_BUG(number) (::headway::sim::planted_bug == (number))
