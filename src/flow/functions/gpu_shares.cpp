#include "flow/functions/gpu_shares.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

namespace headway::flow {
namespace {

/// Parts such as 0.1 do not add up to 1 exactly.
constexpr double tolerance = 1e-9;

}  // namespace

struct GpuShares::Share::Loads {
  std::mutex mutex;
  std::vector<double> of_gpu;
};

GpuShares::Share& GpuShares::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  loads_ = std::move(other.loads_);
  gpus_ = std::move(other.gpus_);
  load_ = other.load_;
  visible_ = std::move(other.visible_);
  return *this;
}

void GpuShares::Share::give_back() {
  if (!loads_) return;
  const std::lock_guard lock(loads_->mutex);
  for (const std::size_t gpu : gpus_) loads_->of_gpu[gpu] -= load_;
}

GpuShares::GpuShares(std::vector<std::string> gpus) : gpus_(std::move(gpus)), loads_(std::make_shared<Share::Loads>()) {
  loads_->of_gpu.resize(gpus_.size());
}

GpuShares::Share GpuShares::take(double amount) {
  Share share;
  if (amount <= 0 || gpus_.empty()) return share;
  const auto count = std::min(static_cast<std::size_t>(std::ceil(amount - tolerance)), gpus_.size());
  std::vector<std::size_t> order(gpus_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::lock_guard lock(loads_->mutex);
  std::ranges::stable_sort(order, {}, [this](std::size_t gpu) { return loads_->of_gpu[gpu]; });
  order.resize(std::max<std::size_t>(count, 1));
  std::ranges::sort(order);
  share.loads_ = loads_;
  share.load_ = std::min(amount, 1.0);
  share.visible_ = "";
  for (const std::size_t gpu : order) {
    loads_->of_gpu[gpu] += share.load_;
    if (!share.visible_->empty()) *share.visible_ += ',';
    *share.visible_ += gpus_[gpu];
  }
  share.gpus_ = std::move(order);
  return share;
}

int GpuShares::workers_for(double amount) const {
  const auto gpus = static_cast<double>(gpus_.size());
  if (amount >= 1) return static_cast<int>(gpus / std::ceil(amount - tolerance));
  return static_cast<int>(gpus * std::floor(1 / amount + tolerance));
}

}  // namespace headway::flow
