#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"
#include "sim/storage.hpp"

#include <cstdint>
#include <functional>
#include <map>

namespace headway::sim {

/// The processes that validate checkpoints. What one says arrives in order, its end last.
class Validations {
 public:
  Validations(Stage& stage, const Scenario& scenario, const Storage& storage)
      : stage_(&stage), scenario_(&scenario), storage_(&storage) {}

  void start(const control::StartValidation& command);
  void end(const control::EndValidation& command);

  /// The guard ends every process; nobody hears of it.
  void driver_died();

  bool any_process() const { return !processes_.empty(); }

 private:
  struct Process {
    JsonObject metrics;  ///< What its function finds.
    Time said_until{};
    bool leaving = false;
  };

  void later(std::int64_t number, Duration after, std::function<void()> what);
  void say(std::int64_t number, control::Event event);
  void work(std::int64_t number);
  void leave(std::int64_t number, ExitStatus status);

  Stage* stage_;
  const Scenario* scenario_;
  const Storage* storage_;
  std::map<std::int64_t, Process> processes_;
  int driver_ = 0;
};

}  // namespace headway::sim
