#pragma once

#include <headway/torch/process_group.hpp>
#include <headway/torch/step_count.hpp>

#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <torch/nn/module.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headway::torch {

/// How `prepare_model` wraps a model. The defaults are those of PyTorch's DistributedDataParallel.
struct DataParallelOptions {
  bool move_to_device = true;  ///< To `get_device()`.
  /// Rank 0's buffers (running means and the like) go to all ranks before each forward pass.
  bool broadcast_buffers = true;
  /// For models in which a pass does not reach every parameter.
  bool find_unused_parameters = false;
  /// Gradients that travel at once: 25 MiB.
  std::int64_t bucket_bytes_max = c10d::kDefaultBucketBytesCap;
};

/// A model whose gradients are averaged over all ranks while backward() runs: c10d's own Reducer
/// gathers them in buckets, and a bucket is on its way as soon as its last gradient is there.
/// `Module` is a module holder (such as torch::nn::Sequential) or a shared pointer to a module.
/// Used as the module itself is; `module()` is that.
///
///     auto model = headway::torch::prepare_model(torch::nn::Linear(4, 1));
///     torch::optim::SGD optimizer(model.parameters(), 0.1);
///     model(input).sum().backward();
template <class Module>
class DistributedModel {
 public:
  /// Every rank must come to it, with a model of the same shapes; rank 0's parameters and buffers
  /// are sent to all. Throws what c10d throws, among it an error that names the first parameter
  /// whose shape differs.
  DistributedModel(Module module, const DataParallelOptions& options) : module_(std::move(module)), options_(options) {
    if (options_.move_to_device) module_->to(get_device());
    std::vector<at::Tensor> parameters;
    std::unordered_map<std::size_t, std::string> names;
    for (const auto& parameter : module_->named_parameters()) {
      if (!parameter.value().requires_grad()) continue;
      names[parameters.size()] = parameter.key();
      parameters.push_back(parameter.value());
    }
    if (context().world_size > 1) {
      send_from_rank_0(module_->parameters());
      send_from_rank_0(module_->buffers());
      if (!parameters.empty()) make_reducer(parameters, names);
    }
    if (!parameters.empty()) steps_->watch(parameters);
  }

  template <class... Arguments>
  auto forward(Arguments&&... arguments) {
    const bool synchronous = reducer_ && synchronize_ && at::GradMode::is_enabled();
    if (at::GradMode::is_enabled()) steps_->begin_pass(synchronize_);
    if (synchronous) {
      reducer_->prepare_for_forward();
      reducer_->rebuild_buckets();
    }
    if (options_.broadcast_buffers && synchronized_before_) send_from_rank_0(module_->buffers());
    auto output = module_->forward(std::forward<Arguments>(arguments)...);
    if (synchronous) reducer_->prepare_for_backward(outputs(output));
    synchronized_before_ = synchronize_ && at::GradMode::is_enabled();
    return output;
  }

  template <class... Arguments>
  auto operator()(Arguments&&... arguments) {
    return forward(std::forward<Arguments>(arguments)...);
  }

  Module& module() { return module_; }
  const Module& module() const { return module_; }
  std::vector<at::Tensor> parameters() const { return module_->parameters(); }
  void train(bool on = true) { module_->train(on); }
  void eval() { module_->eval(); }

  /// While it lives, gradients add up in this rank alone; the first backward() after it averages
  /// the sum. For accumulation over several batches.
  class NoSync {
   public:
    explicit NoSync(DistributedModel& model) : model_(model), before_(std::exchange(model.synchronize_, false)) {}
    ~NoSync() { model_.synchronize_ = before_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedModel& model_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }

 private:
  void make_reducer(const std::vector<at::Tensor>& parameters, std::unordered_map<std::size_t, std::string> names) {
    c10d::verify_params_across_processes(process_group(), parameters, std::nullopt);
    const std::vector<bool> sparse(parameters.size(), false);
    // One bucket for the first pass, unless parameters may be left out; then they are laid out
    // anew, in the order in which gradients came.
    std::vector<std::size_t> limits{std::numeric_limits<std::size_t>::max()};
    if (options_.find_unused_parameters) {
      limits = {static_cast<std::size_t>(c10d::kDefaultFirstBucketBytes),
                static_cast<std::size_t>(options_.bucket_bytes_max)};
    }
    auto [buckets, sizes] = c10d::compute_bucket_assignment_by_size(parameters, limits, sparse);
    std::reverse(buckets.begin(), buckets.end());  // Gradients of the last layers come first.
    reducer_ = std::make_shared<c10d::Reducer>(parameters, std::move(buckets), process_group(), sparse,
                                               options_.bucket_bytes_max, options_.find_unused_parameters, false,
                                               std::move(names), c10d::kDefaultFirstBucketBytes, false, false,
                                               std::vector<std::int64_t>{});
    // The reducer asks it without looking whether there is one.
    logger_ = std::make_shared<c10d::Logger>(reducer_);
    reducer_->set_logger(logger_);
  }

  static void send_from_rank_0(std::vector<at::Tensor> tensors) {
    constexpr std::size_t bytes_at_once = 250 << 20;
    for (at::Tensor& tensor : tensors) tensor = tensor.detach();
    if (!tensors.empty() && context().world_size > 1)
      c10d::broadcast_coalesced(process_group(), tensors, bytes_at_once, 0);
  }

  /// Needed for parameters that a pass leaves out; those are found from the outputs.
  std::vector<at::Tensor> outputs(const at::Tensor& output) const {
    return options_.find_unused_parameters ? std::vector<at::Tensor>{output} : std::vector<at::Tensor>{};
  }
  template <class... Tensors>
  std::vector<at::Tensor> outputs(const std::tuple<Tensors...>& output) const {
    if (!options_.find_unused_parameters) return {};
    return std::apply([](const auto&... each) { return std::vector<at::Tensor>{each...}; }, output);
  }

  Module module_;
  DataParallelOptions options_;
  std::shared_ptr<c10d::Reducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  std::shared_ptr<detail::StepCount> steps_ = std::make_shared<detail::StepCount>();
  bool synchronize_ = true;
  /// As in PyTorch: buffers are sent before a pass that follows a synchronised one.
  bool synchronized_before_ = true;
};

/// Moves a model to this rank's device and has its gradients averaged over all ranks; see
/// DistributedModel.
template <class Module>
DistributedModel<Module> prepare_model(Module module, const DataParallelOptions& options = {}) {
  return DistributedModel<Module>(std::move(module), options);
}

}  // namespace headway::torch
