#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headway::flow {

/// Which GPUs of this machine function workers have. A worker gets those that have the least to do
/// for others, so that workers of several functions share a GPU only where all are in use. Any
/// thread.
class GpuShares {
 public:
  /// `gpus`: as CUDA_VISIBLE_DEVICES names them.
  explicit GpuShares(std::vector<std::string> gpus);

  /// What a worker has, until the end of this object.
  class Share {
   public:
    Share() = default;
    Share(Share&&) noexcept = default;
    Share& operator=(Share&& other) noexcept;
    ~Share() { give_back(); }

    /// Its GPUs as CUDA_VISIBLE_DEVICES names them; unset: all of the machine.
    const std::optional<std::string>& visible() const { return visible_; }

   private:
    friend class GpuShares;
    void give_back();
    struct Loads;

    std::shared_ptr<Loads> loads_;
    std::vector<std::size_t> gpus_;
    double load_ = 0;  ///< Of each.
    std::optional<std::string> visible_;
  };

  /// For one worker: a part of a GPU, or whole ones. 0 is no share.
  Share take(double amount);

  /// How many workers of a function have GPUs that no other one of them has more than a part of. 0:
  /// this machine has too few for one.
  int workers_for(double amount) const;

  /// As CUDA_VISIBLE_DEVICES has them.
  const std::vector<std::string>& gpus() const { return gpus_; }

 private:
  std::vector<std::string> gpus_;
  std::shared_ptr<Share::Loads> loads_;
};

}  // namespace headway::flow
