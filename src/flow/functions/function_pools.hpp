#pragma once

#include "flow/functions/function_pool.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace headway::flow {

/// All pools of a data process, and the host of their workers. A pool stays for a while after its
/// last use, so that the next epoch finds its workers, and what they have made once. Any thread.
class FunctionPools {
 public:
  explicit FunctionPools(FunctionHostLaunch launch);
  FunctionPools(const FunctionPools&) = delete;
  FunctionPools& operator=(const FunctionPools&) = delete;
  ~FunctionPools();

  /// Where workers of other nodes come in.
  const std::shared_ptr<FunctionDesk>& desk() const { return desk_; }

  /// Started by the first call, which may come before anybody has a function to call: the host
  /// imports meanwhile. Errors: it cannot be started, or the client has given no command for it.
  arrow::Result<std::shared_ptr<FunctionHost>> host();

  /// Whether the client has given a command for it: C++ programs have none.
  bool has_host() const { return !launch_.command.empty(); }

  /// The pool of this spec and this input.
  arrow::Result<std::shared_ptr<FunctionPool>> pool(const FunctionSpec& spec);

  /// Somebody needs a pool no more. Those without a user keep at most a quarter of the budget, and
  /// the one that was used last keeps up to a half: the next epoch may need it.
  void trim();

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<FunctionPool> pool;
  };

  std::list<Kept> too_many();

  const FunctionHostLaunch launch_;
  const std::shared_ptr<FunctionDesk> desk_;
  std::mutex mutex_;
  std::shared_ptr<FunctionHost> host_;
  std::list<Kept> kept_;  ///< The one that was used last comes first.
};

}  // namespace headway::flow
