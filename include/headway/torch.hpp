#pragma once

/// PyTorch in a C++ training loop, over the libtorch of the torch wheel or another one: link
/// headway::torch (docs/cpp.md). Everything here is compiled into your program; Headway's own
/// library does not know libtorch.
#include <headway/torch/checkpoint.hpp>
#include <headway/torch/data.hpp>
#include <headway/torch/data_parallel.hpp>
#include <headway/torch/devices.hpp>
#include <headway/torch/process_group.hpp>
#include <headway/torch/reproducibility.hpp>
#include <headway/torch/sampler.hpp>
