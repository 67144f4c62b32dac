#pragma once

#include <headway/torch/version.hpp>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

// Where libtorch has CUDA and the headers of NCCL and CUDA are there, headway::torch defines
// USE_C10D_NCCL (cmake/headway-torch.cmake).
#ifdef USE_C10D_NCCL
#if !__has_include(<nccl.h>) || !__has_include(<cuda_runtime_api.h>)
#error \
    "USE_C10D_NCCL is defined, but nccl.h or cuda_runtime_api.h is not to be found; add their folders, or leave it undefined"
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace headway::torch::detail {

#ifdef USE_C10D_NCCL
inline constexpr bool has_nccl = true;
inline c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                   std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, std::move(options));
}
#else
inline constexpr bool has_nccl = false;
/// Never called: gpu_backend() gives Gloo.
inline c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>&, int, int,
                                                   std::chrono::milliseconds) {
  return {};
}
#endif

}  // namespace headway::torch::detail
