#include "flow/functions/function_pools.hpp"

#include <algorithm>
#include <sstream>

namespace headway::flow {
namespace {

/// So many pools without a user keep their workers, as long as the memory that they share with them
/// is no more than this part of the budget.
constexpr std::size_t idle_max = 4;
constexpr std::int64_t idle_share = 4;
/// The one that was used last: the next epoch may need it, with what its workers have made once.
constexpr std::int64_t last_share = 2;

void append(std::string& key, const std::string& part) { key += std::to_string(part.size()) + ":" + part; }

/// Equal for specs whose workers do the same.
std::string key_of(const FunctionSpec& spec) {
  std::string key;
  append(key, spec.name);
  append(key, std::to_string(spec.workers_min) + " " + std::to_string(spec.workers_max) + " " +
                  std::to_string(static_cast<int>(spec.other_nodes)) + " " + std::to_string(spec.num_gpus) + " " +
                  std::to_string(spec.copy));
  for (const FunctionCall& call : spec.calls) {
    append(key, call.kind);
    append(key, call.pickled);
    append(key, call.batch_size ? std::to_string(*call.batch_size) : "");
    append(key, call.batch_format);
    for (const std::string& name : call.keys) append(key, name);
  }
  if (spec.input) append(key, spec.input->ToString(true));
  return key;
}

/// With no more workers than there are GPUs for.
arrow::Result<FunctionSpec> bounded_by_gpus(FunctionSpec spec, const GpuShares& shares) {
  if (spec.num_gpus == 0) return spec;
  const int most = shares.workers_for(spec.num_gpus);
  if (most == 0) {
    std::ostringstream words;  // Arrow's words have 3 as 3.000000.
    words << "num_gpus of " << spec.name << " is " << spec.num_gpus
          << "; allowed: at most as many GPUs as the data process sees in CUDA_VISIBLE_DEVICES, which are "
          << shares.gpus().size() << " (in a training, those of the machine's ranks: use_gpu=True)";
    return arrow::Status::Invalid(words.str());
  }
  spec.workers_max = spec.workers_max == 0 ? most : std::min(spec.workers_max, most);
  spec.workers_min = std::min(spec.workers_min, spec.workers_max);
  return spec;
}

}  // namespace

FunctionPools::FunctionPools(FunctionHostLaunch launch)
    : launch_(std::move(launch)), desk_(std::make_shared<FunctionDesk>(launch_.budget)) {
  desk_->on_change(this, [this] {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : kept_) kept.pool->desk_changed();
  });
}

FunctionPools::~FunctionPools() { desk_->on_change(this, nullptr); }

arrow::Result<std::shared_ptr<FunctionHost>> FunctionPools::host() {
  if (!has_host()) {
    return arrow::Status::Invalid(
        "DuckDB sorts, groups and joins in a process of Python, which a C++ program finds by the environment variable "
        "HEADWAY_PYTHON: an interpreter that has the packages headway and duckdb");
  }
  const std::lock_guard lock(mutex_);
  if (!host_) {
    ARROW_ASSIGN_OR_RAISE(host_, FunctionHost::start(launch_));
  }
  return host_;
}

arrow::Result<std::shared_ptr<FunctionPool>> FunctionPools::pool(const FunctionSpec& spec) {
  ARROW_ASSIGN_OR_RAISE(auto started, host());
  ARROW_ASSIGN_OR_RAISE(FunctionSpec bounded, bounded_by_gpus(spec, started->gpus()));
  std::string key = key_of(bounded);
  std::list<Kept> let_go;  // Ended after the lock.
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->pool;
  }
  ARROW_ASSIGN_OR_RAISE(auto opened, FunctionPool::open(std::move(started), std::move(bounded), desk_));
  kept_.push_front({std::move(key), opened});
  let_go = too_many();
  return opened;
}

void FunctionPools::trim() {
  std::list<Kept> let_go;  // Ended after the lock.
  const std::lock_guard lock(mutex_);
  let_go = too_many();
}

/// Taken out of what is kept, with the mutex held: those whose last use is longest ago.
std::list<FunctionPools::Kept> FunctionPools::too_many() {
  std::list<Kept> found;
  std::size_t idle = 0;
  std::int64_t bytes = 0;
  for (auto each = kept_.begin(); each != kept_.end();) {
    const auto place = each++;
    if (place->pool.use_count() > 1) continue;
    const std::int64_t own = place->pool->slot_bytes();
    const std::int64_t share = idle == 0 ? last_share : idle_share;
    const bool is_too_much = launch_.budget != nullptr && bytes + own > launch_.budget->bytes() / share;
    if (idle == idle_max || is_too_much) {
      found.splice(found.end(), kept_, place);
    } else {
      ++idle;
      bytes += own;
    }
  }
  return found;
}

}  // namespace headway::flow
