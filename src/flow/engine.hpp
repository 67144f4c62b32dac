#pragma once

#include "feed/feed_messages.hpp"
#include "flow/budget.hpp"
#include "flow/functions/function_pools.hpp"
#include "flow/seen_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headway::flow {

/// What all flows of this process share. Made of the first client's Hello.
class Engine {
 public:
  explicit Engine(const feed::Hello& hello);

  Budget& budget() { return budget_; }
  /// That work on one stage at a time.
  std::size_t threads() const { return threads_; }
  const feed::Hello& hello() const { return hello_; }
  const std::shared_ptr<FunctionPools>& functions() const { return functions_; }
  const std::shared_ptr<SeenRows>& seen_rows() const { return seen_rows_; }
  /// A folder for what does not fit into memory.
  std::string scratch() const;

 private:
  const feed::Hello hello_;
  const std::size_t threads_;
  Budget budget_;
  const std::shared_ptr<FunctionPools> functions_;
  const std::shared_ptr<SeenRows> seen_rows_ = std::make_shared<SeenRows>();
};

}  // namespace headway::flow
