#pragma once

#include <string>
#include <vector>

namespace headway {

/// "rank 3", "ranks 0, 2", "ranks 0, 2 to 5", or the first parts of such a list "and 12 more". In
/// the order that is given.
std::string rank_list(const std::vector<int>& ranks);

/// "rank 1 has" or "ranks 1, 2 have".
std::string ranks_have(const std::vector<int>& ranks);

}  // namespace headway
