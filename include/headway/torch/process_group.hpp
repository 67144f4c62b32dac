#pragma once

#include <headway/torch/devices.hpp>
#include <headway/torch/nccl.hpp>
#include <headway/torch/version.hpp>

#include <headway/collective.hpp>
#include <headway/context.hpp>

#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/types.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace headway::torch {

/// The device that this rank, or this validation function, should use: its first GPU, or the CPU.
/// Throws `BadResult`: `invalid_argument` in any other process, `unavailable` as `device_index`.
inline ::torch::Device get_device() {
  const std::optional<int> index = device_index(process_context("headway::torch::get_device()"));
  if (!index) return ::torch::Device(::torch::kCPU);
  return {::torch::kCUDA, static_cast<c10::DeviceIndex>(*index)};
}

namespace detail {

/// The IP address at which the other ranks reach this one.
inline std::string own_host() {
  const Context& me = context();
  return me.local_world_size == me.world_size ? "127.0.0.1" : me.node_ip;
}

/// Rank 0's store takes a port of the system's choice and serves on it, so that nobody can come
/// between; it sends host and port to the others.
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
    store = c10::make_intrusive<c10d::TCPStore>(own_host(), options);
    broadcast(std::to_string(store->getPort()) + " " + own_host());
  } else {
    const std::string place = broadcast("");
    const std::size_t space = place.find(' ');
    options.port = static_cast<std::uint16_t>(std::stoi(place.substr(0, space)));
    store = c10::make_intrusive<c10d::TCPStore>(place.substr(space + 1), options);
  }
  return c10::make_intrusive<c10d::PrefixStore>("headway", store);
}

/// GPU tensors go through NCCL where that can be had. Its communicators, and what names no device,
/// are then on this rank's own GPU.
inline void add_gpu_backend(c10d::ProcessGroup& group, const c10::intrusive_ptr<c10d::Store>& store,
                            const c10::intrusive_ptr<c10d::Backend>& gloo, std::chrono::milliseconds timeout) {
  const Context& me = context();
  const GpuBackend backend = gpu_backend(me, has_nccl);
  if (backend == GpuBackend::none) return;
  const c10::Device device = get_device();
  c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(device);
  if (backend == GpuBackend::nccl) {
    group.setBackend(
        at::kCUDA, c10d::ProcessGroup::BackendType::NCCL,
        make_nccl(c10::make_intrusive<c10d::PrefixStore>("nccl", store), me.world_rank, me.world_size, timeout));
    group.setDefaultBackend(c10d::ProcessGroup::BackendType::NCCL);
    group.setBoundDeviceId(device);
    return;
  }
  group.setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::GLOO, gloo);
  if (me.world_rank == 0 && !has_nccl) {
    std::fputs("headway: gradients of GPUs go through Gloo, since this program was built without NCCL (docs/cpp.md)\n",
               stderr);
  }
}

inline c10::intrusive_ptr<c10d::ProcessGroup> make_group(std::chrono::milliseconds timeout) {
  const Context& me = context();
  at::set_num_threads(thread_count(me));
  const c10::intrusive_ptr<c10d::Store> store = open_store(timeout);
  const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  // By itself Gloo would look this machine's name up, which fails where the name does not resolve.
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  const bool named = interface != nullptr && *interface != '\0';
  options->devices.push_back(named ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                                   : c10d::ProcessGroupGloo::createDeviceForHostname(own_host()));
  const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, me.world_rank, me.world_size, options);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, me.world_rank, me.world_size);
  group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  add_gpu_backend(*group, store, gloo, timeout);
  return group;
}

}  // namespace detail

/// The process group of all ranks, made by the first call in each rank (every rank must come to
/// it): Gloo for CPU tensors, and for those of GPUs what `gpu_backend` says. `timeout` holds for
/// each collective, and counts in the first call only.
///
///     std::vector<torch::Tensor> tensors{losses};
///     headway::torch::process_group()->allreduce(tensors)->wait();  // the sum over all ranks, in each of them
///
/// Throws `BadResult` outside of a training loop, and what c10d throws. A collective that breaks
/// because another rank died throws too; Headway then tells the other rank's death, not the echo.
inline const c10::intrusive_ptr<c10d::ProcessGroup>& process_group(
    std::chrono::milliseconds timeout = std::chrono::minutes(30)) {
  (void)context();
  // Never destroyed: its end would wait for Gloo's threads, and the process's end closes its
  // sockets.
  static const auto& group = *new c10::intrusive_ptr<c10d::ProcessGroup>(detail::make_group(timeout));
  return group;
}

}  // namespace headway::torch
