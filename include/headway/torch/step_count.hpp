#pragma once

#include <headway/context.hpp>
#include <headway/progress.hpp>

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace headway::torch::detail {

/// Counts the backward passes of a model as optimizer steps, and on CPUs takes the time that the
/// end of each waits for gradients of other ranks. Changes nothing of what is computed.
class StepCount : public std::enable_shared_from_this<StepCount> {
 public:
  /// Called once, with the parameters that are trained.
  void watch(const std::vector<at::Tensor>& parameters) {
    const auto on_cpu = [](const at::Tensor& each) { return each.device().is_cpu(); };
    times_ = std::all_of(parameters.begin(), parameters.end(), on_cpu);
    if (context().world_size > 1) headway::detail::see_collectives(times_);
    for (const at::Tensor& parameter : parameters) {
      // Held: a node that nobody holds is made anew, without its hook.
      nodes_.push_back(::torch::autograd::impl::grad_accumulator(parameter));
      nodes_.back()->add_pre_hook(std::make_unique<Hook>(weak_from_this()));
    }
  }

  /// A pass begins whose gradients are averaged, or (false) are added up in this rank alone.
  void begin_pass(bool counts) {
    counts_ = counts;
    under_way_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Hook : ::torch::autograd::FunctionPreHook {
    explicit Hook(std::weak_ptr<StepCount> count) : count(std::move(count)) {}
    ::torch::autograd::variable_list operator()(const ::torch::autograd::variable_list& gradients) override {
      if (const auto counts = count.lock()) counts->gradient_comes();
      return gradients;
    }
    std::weak_ptr<StepCount> count;  ///< A graph may outlive the model.
  };

  /// The engine calls what is queued in the order in which it was queued, and the reducer queues
  /// its waiting when the last gradient is there: it comes between these two.
  void gradient_comes() {
    if (!counts_ || under_way_.exchange(true)) return;
    queue([self = shared_from_this()] {
      const Clock::time_point begun = Clock::now();
      queue([self, begun] { self->backward_ends(begun); });
    });
  }

  void backward_ends(Clock::time_point begun) const {
    if (times_) headway::detail::count_collectives(std::chrono::duration<double>(Clock::now() - begun).count());
    count_step(reinterpret_cast<std::uintptr_t>(this));
  }

  static void queue(std::function<void()> callback) {
    ::torch::autograd::Engine::get_default_engine().queue_callback(std::move(callback));
  }

  bool times_ = false;
  std::atomic<bool> counts_ = true;
  std::atomic<bool> under_way_ = false;
  std::vector<decltype(::torch::autograd::impl::grad_accumulator({}))> nodes_;
};

}  // namespace headway::torch::detail
