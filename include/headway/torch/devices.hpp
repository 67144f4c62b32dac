#pragma once

#include <headway/context.hpp>
#include <headway/result.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

/// Which device a worker uses, and what carries its collectives: plain functions of its `Context`,
/// without libtorch.
namespace headway::torch {

/// The index among the visible GPUs of the one that this worker should use, its first; none without
/// a GPU: it uses the CPU. Throws `BadResult` (`unavailable`) when its GPU is not among those of
/// `CUDA_VISIBLE_DEVICES`.
inline std::optional<int> device_index(const Context& worker) {
  if (worker.gpu_ids.empty()) return std::nullopt;
  const auto place = std::find(worker.visible_gpus.begin(), worker.visible_gpus.end(), worker.gpu_ids.front());
  if (place == worker.visible_gpus.end()) {
    throw BadResult({ErrorKind::unavailable, "this worker's GPU " + worker.gpu_ids.front() +
                                                 " is not among those that its process sees (CUDA_VISIBLE_DEVICES)"});
  }
  return static_cast<int>(place - worker.visible_gpus.begin());
}

/// How many threads this worker computes with: what OMP_NUM_THREADS says, its CPUs where that is no
/// number above 0.
inline int thread_count(const Context& worker) {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int wanted = asked == nullptr ? 0 : std::atoi(asked);
  return wanted > 0 ? wanted : std::max(1, worker.cpus);
}

/// What carries collectives of GPU tensors. Those of CPU tensors go through Gloo.
enum class GpuBackend {
  none,  ///< The worker has no GPU.
  /// By way of the CPU: GPUs are shared, which NCCL refuses, or the program was built without NCCL.
  gloo,
  nccl  ///< Every worker has a separate GPU.
};

/// `has_nccl`: whether the program was built with NCCL. All workers of a node come to the same
/// answer.
inline GpuBackend gpu_backend(const Context& worker, bool has_nccl) {
  if (worker.gpu_ids.empty()) return GpuBackend::none;
  const bool shared = worker.visible_gpus.size() < static_cast<std::size_t>(worker.local_world_size);
  return has_nccl && !shared ? GpuBackend::nccl : GpuBackend::gloo;
}

}  // namespace headway::torch
