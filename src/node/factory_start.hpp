#pragma once

#include "node/guard_wait.hpp"
#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headway::node {

/// A guard with a factory below it that were started before the agent was there.
struct ForkedFactory {
  wire::Fd control;  ///< The agent's end of the factory's socket; not open once it is taken.
  wire::Fd life;     ///< The writing end of the guard's pipe.
  pid_t guard_pid = 0;
  /// Not so: it may not have become a guard yet, and never be one.
  bool is_guard = true;
  /// The modules for which it may be taken; unset: any.
  std::optional<std::vector<std::string>> preload = std::nullopt;
};

/// How worker factories are started on this node.
struct FactoryConfig {
  /// The headway-guard program; empty: the command is guard and factory in one, with the factory's
  /// socket as its descriptor 3 and the guard's pipe as 4.
  std::string guard_path;
  /// Starts a factory; after a guard's, the socket's number and the modules to import follow.
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string py_spy;  ///< The program that shows the stacks of a process; empty: there is none.
  /// What a factory's program comes to before it is ready, for messages; empty: there is nothing to
  /// name.
  std::string entrance = "";
  /// Workers tell their stacks themselves, when they are asked through their sessions.
  bool own_stacks = false;
  std::shared_ptr<ForkedFactory> forked = nullptr;  ///< Used first, when it is there.
  GuardLimits limits = {};
  /// How long a factory may take to report the end of a worker whose process has ended.
  std::chrono::milliseconds answer_limit{5'000};
};

/// Starts guard and factory. `words` follow the socket's number in its command; `inherited` become
/// its descriptors 5, 6, … Errors: `unavailable`.
Result<ForkedFactory> start_factory(const FactoryConfig& config, const std::vector<std::string>& words,
                                    const std::vector<int>& inherited = {});

/// Ends one that no agent has taken, and returns when nothing of it is left. Does nothing to one
/// that was taken. `notice` gets a line where that takes long.
void end_untaken(ForkedFactory& forked, const GuardLimits& limits,
                 const std::function<void(const std::string&)>& notice);

}  // namespace headway::node
