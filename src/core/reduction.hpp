#pragma once

#include <headway/reduce.hpp>

#include "core/json.hpp"

#include <map>
#include <optional>
#include <string>

namespace headway {

BOOST_DESCRIBE_ENUM(Reduce, mean, sum, min, max)

/// `Reduction` as messages have it: one way for all numbers, or those that are named.
struct ReductionPlan {
  std::optional<Reduce> all;
  std::map<std::string, Reduce> by_metric;
};
BOOST_DESCRIBE_STRUCT(ReductionPlan, (), (all, by_metric))

}  // namespace headway
