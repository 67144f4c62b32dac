#pragma once

#include <torch/version.h>

// c10d's C++ interface (Reducer, ProcessGroupGloo) changes with each version; another one would
// compile and misbehave.
#if TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 13
#error "headway/torch.hpp of this version of Headway is made for PyTorch 2.13; install that, or a Headway for yours"
#endif

// Without it c10d's headers leave Gloo out; the wheels are built with it.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
