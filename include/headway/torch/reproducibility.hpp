#pragma once

#include <headway/torch/version.hpp>

#include <ATen/Context.h>
#include <torch/utils.h>

#include <cstdint>

namespace headway::torch {

/// Has this rank draw the same numbers in every run, and take deterministic algorithms, slower ones
/// if need be. Operators that have none throw. Call it at the loop's beginning.
inline void enable_reproducibility(std::uint64_t seed = 0) {
  ::torch::manual_seed(seed);
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
}

}  // namespace headway::torch
