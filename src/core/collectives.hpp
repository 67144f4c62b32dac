#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Where a rank stands in its process groups' collectives, as its framework keeps the record.
namespace headway {

/// A collective that a rank has entered and not come out of.
struct OpenCollective {
  std::int64_t sequence = 0;  ///< Its number within the group; the same in every rank.
  std::string operation;      ///< "gloo:all_reduce [1024] Float"
  double age_s = 0;           ///< Since it was entered.
};
BOOST_DESCRIBE_STRUCT(OpenCollective, (), (sequence, operation, age_s))

struct GroupPosition {
  std::string group;          ///< The same name in every rank.
  std::vector<int> ranks;     ///< World ranks of its members.
  std::int64_t sequence = 0;  ///< Of the last collective that was entered; 0: none yet.
  std::vector<OpenCollective> open;
};
BOOST_DESCRIBE_STRUCT(GroupPosition, (), (group, ranks, sequence, open))

}  // namespace headway
