#pragma once

#include <headway/torch/version.hpp>

#include <headway/context.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/data/dataloader.h>
#include <torch/data/samplers/base.h>
#include <torch/serialize.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headway::torch {

/// This rank's share of a data set: every `world_size`-th element of an order that is the same in
/// all ranks, padded from its beginning so that every rank has equally many. The order is PyTorch's
/// DistributedSampler's, for the same seed and epoch. For torch::data's loaders.
///
/// Copies share their position and epoch, so `set_epoch` reaches the copy inside a loader; it takes
/// effect when the loader begins anew.
class DistributedSampler : public ::torch::data::samplers::Sampler<> {
 public:
  /// `size`: elements of the data set, at least 1.
  explicit DistributedSampler(std::size_t size, bool shuffle = true, std::uint64_t seed = 0)
      : state_(std::make_shared<State>()), size_(size), shuffle_(shuffle), seed_(seed) {
    TORCH_CHECK_VALUE(size > 0, "DistributedSampler: size is 0; allowed: a data set with elements");
    reset(std::nullopt);
  }

  /// Another order in each epoch.
  void set_epoch(std::uint64_t epoch) { state_->epoch = epoch; }

  /// Elements of this rank in an epoch.
  std::size_t size() const {
    const auto ranks = static_cast<std::size_t>(context().world_size);
    return (size_ + ranks - 1) / ranks;
  }

  void reset(std::optional<std::size_t> new_size = std::nullopt) override {
    if (new_size) size_ = *new_size;
    const auto ranks = static_cast<std::size_t>(context().world_size);
    std::vector<std::size_t> order(size_);
    for (std::size_t i = 0; i < size_; ++i) order[i] = i;
    if (shuffle_) {
      const at::Generator random = at::detail::createCPUGenerator(seed_ + state_->epoch);
      const at::Tensor drawn = ::torch::randperm(static_cast<std::int64_t>(size_), random, ::torch::kInt64);
      std::copy_n(drawn.const_data_ptr<std::int64_t>(), size_, order.begin());
    }
    state_->mine.clear();
    state_->next = 0;
    for (std::size_t i = static_cast<std::size_t>(context().world_rank); i < size() * ranks; i += ranks) {
      state_->mine.push_back(order[i % size_]);
    }
  }

  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override {
    State& state = *state_;
    if (state.next >= state.mine.size()) return std::nullopt;
    const std::size_t end = std::min(state.next + batch_size, state.mine.size());
    const auto begin = state.mine.begin();
    std::vector<std::size_t> batch(begin + static_cast<std::ptrdiff_t>(state.next),
                                   begin + static_cast<std::ptrdiff_t>(end));
    state.next = end;
    return batch;
  }

  void save(::torch::serialize::OutputArchive& archive) const override {
    archive.write("next", ::torch::tensor(static_cast<std::int64_t>(state_->next)));
  }
  void load(::torch::serialize::InputArchive& archive) override {
    ::torch::Tensor place;
    archive.read("next", place);
    state_->next = static_cast<std::size_t>(place.item<std::int64_t>());
  }

 private:
  struct State {
    std::uint64_t epoch = 0;
    std::vector<std::size_t> mine;
    std::size_t next = 0;
  };

  std::shared_ptr<State> state_;
  std::size_t size_;
  bool shuffle_;
  std::uint64_t seed_;
};

/// A loader of torch::data over this rank's share; `sampler` stays in your hands for `set_epoch`.
template <class Dataset>
auto prepare_data_loader(Dataset dataset, const DistributedSampler& sampler, ::torch::data::DataLoaderOptions options) {
  return ::torch::data::make_data_loader(std::move(dataset), sampler, options);
}

}  // namespace headway::torch
