#pragma once

#include "driver/front_events.hpp"
#include "driver/run.hpp"
#include "library/display.hpp"
#include "library/interrupt.hpp"
#include "library/run_request.hpp"

#include <memory>
#include <optional>
#include <string>

namespace headway::library {

/// Serves one run's events on the calling thread: output, callbacks, Ctrl-C.
class RunLoop {
 public:
  RunLoop(std::shared_ptr<driver::Run> run, RunCallbacks callbacks, CheckpointConfig score)
      : run_(std::move(run)), callbacks_(std::move(callbacks)), display_(std::move(score)) {}

  /// Returns when the run has ended. `listener` may be null.
  const driver::Finished& serve(RunListener* listener);

  /// Whether Ctrl-C came, even if too late for the run.
  bool interrupted() const { return interrupt_.came(); }
  const std::string& return_value_json() const { return return_value_json_; }

 private:
  void on(const driver::RankLine& event);
  void on(const driver::RankRedraws& event);
  void on(const driver::MovingLineShown& event);
  void on(const driver::HelperLine& event);
  void on(const driver::Notice& event);
  void on(const driver::RunWarning& event);
  void on(const driver::ReportRecorded& event);
  void on(const driver::CallbackReport& event);
  void on(const driver::AttemptFailed& event);
  void on(const driver::SetupAsked& event);
  void on(const driver::TeardownAsked& event);
  void on(const driver::FunctionReturned& event);
  void on(driver::Finished& event);
  // A C++ front end calls no pickled functions, and an exception's words are in the failure.
  void on(const driver::CallExecuted&) {}
  void on(const driver::FunctionRaised&) {}
  // A C++ hook is never waited for: it returns at once.
  void on(const driver::ExamineHook&) {}
  void on(const driver::InterruptHook&) {}

  void remark(bool warning, const std::string& text);
  template <class Call>
  void call_back(Call call);

  std::shared_ptr<driver::Run> run_;
  RunCallbacks callbacks_;
  Display display_;
  Interrupt interrupt_;
  RunListener* listener_ = nullptr;
  bool aborted_ = false;
  bool callback_failed_ = false;
  std::string return_value_json_ = "null";
  std::optional<driver::Finished> end_;
};

}  // namespace headway::library
