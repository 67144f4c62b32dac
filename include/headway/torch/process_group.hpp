#pragma once

#include <headway/torch/version.hpp>

#include <headway/collective.hpp>
#include <headway/context.hpp>

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

namespace headway::torch {

namespace detail {

/// Rank 0's store takes a port of the system's choice and serves on it, so that nobody can come between; the others are told which.
inline c10::intrusive_ptr<c10d::Store> open_store(std::chrono::milliseconds timeout) {
  const Context& me = context();
  c10d::TCPStoreOptions options;
  options.numWorkers = static_cast<std::size_t>(me.world_size);
  options.waitWorkers = false;
  options.timeout = timeout;
  c10::intrusive_ptr<c10d::TCPStore> store;
  if (me.world_rank == 0) {
    options.isServer = true;
    options.port = 0;
    store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    broadcast(std::to_string(store->getPort()));
  } else {
    options.port = static_cast<std::uint16_t>(std::stoi(broadcast("")));
    store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  }
  return c10::make_intrusive<c10d::PrefixStore>("headway", store);
}

inline c10::intrusive_ptr<c10d::ProcessGroup> make_group(std::chrono::milliseconds timeout) {
  const Context& me = context();
  at::set_num_threads(std::max(1, std::atoi(std::getenv("OMP_NUM_THREADS"))));
  const c10::intrusive_ptr<c10d::Store> store = open_store(timeout);
  const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  // By itself Gloo would look this machine's name up, which fails where the name does not resolve.
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface(interface == nullptr ? "lo" : interface));
  const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, me.world_rank, me.world_size, options);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, me.world_rank, me.world_size);
  group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  if (!me.gpu_ids.empty()) group->setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  return group;
}

}  // namespace detail

/// The process group of all ranks, over Gloo, made by the first call in each rank (every rank must come to it). For collectives of your
/// own: `process_group()->allreduce(tensors)->wait()`. `timeout` holds for each collective, and counts in the first call only.
///
/// Throws `BadResult` outside of a training loop, and what c10d throws. A collective that breaks because another rank died throws too;
/// Headway then tells the other rank's death, not the echo.
inline const c10::intrusive_ptr<c10d::ProcessGroup>& process_group(
    std::chrono::milliseconds timeout = std::chrono::minutes(30)) {
  (void)context();
  // Never destroyed: its end would wait for Gloo's threads, and the process's end closes its sockets.
  static const auto& group = *new c10::intrusive_ptr<c10d::ProcessGroup>(detail::make_group(timeout));
  return group;
}

/// The device that this rank should use: its first GPU, or the CPU. Throws `BadResult` outside of a training loop.
inline ::torch::Device get_device() {
  const Context& me = context();
  if (me.gpu_ids.empty()) return ::torch::Device(::torch::kCPU);
  const auto place = std::find(me.visible_gpus.begin(), me.visible_gpus.end(), me.gpu_ids.front());
  return {::torch::kCUDA, static_cast<c10::DeviceIndex>(place - me.visible_gpus.begin())};
}

}  // namespace headway::torch
