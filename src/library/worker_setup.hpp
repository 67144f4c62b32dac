#pragma once

#include "core/json.hpp"

/// What the driver hands to its workers beside the loop: its environment and working directory, as
/// they are when fit() is called.
namespace headway::library {

/// Of this process, without what Headway has set here for this process alone. Bytes travel as
/// characters U+0000 to U+00FF, since an environment need not be UTF-8.
JsonObject worker_setup();

/// Makes this process look like the one that `setup` was taken from, but for CUDA_VISIBLE_DEVICES,
/// which is the worker's own.
void apply_worker_setup(const JsonObject& setup);

}  // namespace headway::library
