#pragma once

#include "storage/scratch.hpp"

#include <cstdlib>

namespace headway::driver {

/// A staging root for one test: HEADWAY_STAGING_DIR names it meanwhile.
struct StagingPlace : storage::Scratch {
  StagingPlace() { ::setenv("HEADWAY_STAGING_DIR", path("staging").c_str(), 1); }
  ~StagingPlace() { ::unsetenv("HEADWAY_STAGING_DIR"); }
};

}  // namespace headway::driver
