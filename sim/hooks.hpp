#pragma once

#include "control/commands.hpp"
#include "sim/scenario.hpp"
#include "sim/stage.hpp"

namespace headway::sim {

/// The front end's set-up and tear-down hooks, on a separate thread: their answers may come when
/// the attempt has ended.
class Hooks {
 public:
  Hooks(Stage& stage, const Scenario& scenario)
      : stage_(&stage),
        may_hang_(scenario.spec.failure.hang_fail_s.has_value()),
        has_callbacks_(scenario.spec.callback_lag_max.has_value()) {}

  void set_up(const control::RunSetup& command);
  void tear_down(const control::RunTeardown& command);
  /// Callbacks hear what was reported, one after the other; one may raise, or ask for the end.
  void hear(const control::AppendResult& command);
  void hear(const control::TellFailure& command);
  /// A hook that reaches into a rank which is gone fails.
  void rank_is_gone(int attempt);
  /// A hook that hangs is made to raise.
  void interrupt(const control::InterruptHook& command);
  void driver_died();

 private:
  void answer(Duration after, control::Event event);
  void call_back(bool of_a_report);
  void pin();

  Stage* stage_;
  bool may_hang_;
  bool has_callbacks_;
  int driver_ = 0;
  Time callbacks_until_{};  ///< They are called one after the other.
  bool callback_raised_ = false;
  int setting_up_ = 0;  ///< The attempt whose set-up hook runs; 0: none does.
};

}  // namespace headway::sim
