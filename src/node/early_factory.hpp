#pragma once

#include "node/factory_start.hpp"

#include <memory>
#include <string_view>

namespace headway::node {

/// A worker factory that is started before there is an agent, and hears meanwhile, line by line,
/// what to import. Any one thread at a time.
class EarlyFactory {
 public:
  /// What follows the socket's number in its command: it reads lines from the descriptor after it.
  static constexpr const char* told_by = "--told-by";

  /// Starts the processes. Errors: `unavailable`.
  static Result<std::unique_ptr<EarlyFactory>> start(const FactoryConfig& config);

  ~EarlyFactory() { end(); }
  EarlyFactory(const EarlyFactory&) = delete;
  EarlyFactory& operator=(const EarlyFactory&) = delete;

  /// Sends a line, which must end as one; never blocks. False: it has ended, or has not read for
  /// long; then it is of no use.
  bool tell(std::string_view line);

  /// For an agent to take, where workers need these modules. It hears nothing more.
  const std::shared_ptr<ForkedFactory>& hand_over(std::vector<std::string> preload);

  /// Ends it unless an agent has taken it; no agent may do so at the same time.
  void end();

 private:
  EarlyFactory(ForkedFactory started, wire::Fd told, GuardLimits limits);

  std::shared_ptr<ForkedFactory> forked_;
  wire::Fd told_;  ///< By it the factory hears what to import.
  GuardLimits limits_;
};

}  // namespace headway::node
