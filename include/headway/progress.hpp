#pragma once

#include <headway/export.hpp>

#include <cstdint>

/// What a training loop has done so far, for the line that shows what a run is doing, for
/// `headway status`, and for step_times_<attempt>.json in the run's folder.
namespace headway {

/// Counts an optimizer step of this rank. `headway::torch::prepare_model` calls it; other loops
/// may. `optimizer` is any number: a loop with several optimizers has made a step when one of them
/// comes again. Takes about a microsecond; does nothing outside of a training loop.
HEADWAY_API void count_step(std::uintptr_t optimizer = 0);

namespace detail {

/// This rank was in collectives for that long since its last step.
HEADWAY_API void count_collectives(double seconds);

/// A model was prepared for whose collectives `count_collectives` is called, or is not.
HEADWAY_API void see_collectives(bool visible);

}  // namespace detail

}  // namespace headway
