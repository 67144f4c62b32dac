#include "flow/engine.hpp"

#include "flow/large_blocks.hpp"
#include "node/resource_ledger.hpp"

#include <algorithm>
#include <filesystem>

namespace headway::flow {
namespace {

/// The least with which a row group of usual size can be read.
constexpr std::int64_t budget_min = 64 << 20;

/// What is freed stays with the allocator for a while, and the process itself takes some:
/// a part of the budget, but never more than this.
constexpr std::int64_t kept_max = 256 << 20;

std::int64_t memory_of(const feed::Hello& hello) {
  return std::max(hello.budget > 0 ? hello.budget : node::usable_memory() / 4, budget_min);
}

std::int64_t budget_of(const feed::Hello& hello) {
  const std::int64_t bytes = memory_of(hello);
  return bytes - std::min(bytes / 4, kept_max);
}

std::size_t threads_of(const feed::Hello& hello) {
  return static_cast<std::size_t>(hello.threads > 0 ? hello.threads : node::usable_cpus());
}

}  // namespace

Engine::Engine(const feed::Hello& hello)
    : hello_(hello),
      threads_(threads_of(hello)),
      budget_(budget_of(hello)),
      functions_(std::make_shared<FunctionPools>(
          FunctionHostLaunch{hello.function_host, hello.environment, &budget_, node::visible_gpus()})) {
  keep_memory_within((memory_of(hello) + budget_.bytes()) / 2);  // The rest is for slots.
}

std::string Engine::scratch() const {
  return hello_.scratch.empty() ? std::filesystem::temp_directory_path().string() : hello_.scratch;
}

}  // namespace headway::flow
