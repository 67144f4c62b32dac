#include "driver/front_events.hpp"

#include "bindings/described.hpp"
#include "bindings/module.hpp"
#include "core/preemption.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

/// What events consist of.
void bind_parts(nb::module_& module) {
  bind_described<RankError>(module, "RankError", "An exception of a rank's, in words.");
  bind_described<ExitStatus>(module, "ExitStatus", "How a process ended.");
  bind_described<PreemptionInfo>(module, "PreemptionInfo", "Which nodes are taken away, with which ranks.");
  bind_described<control::Preemption>(module, "Preemption", "A node was taken away from a run.");
  bind_described<control::RankFailure>(module, "RankFailure", "One rank's part in a failure.");
  bind_described<control::RunFailure>(module, "RunFailure", "Why a run or an attempt failed.")
      .def_static(
          "from_json",
          [](const std::string& json) { return unwrap(from_json_text<control::RunFailure>(json, "a failure")); },
          nb::arg("json"));
  bind_described<control::KeptCheckpoint>(module, "KeptCheckpoint", "A committed checkpoint that is kept.");
  bind_described<control::RunOutcome>(module, "RunOutcome",
                                      "How a run ended: \"finished\", \"errored\" or \"aborted\".");
}

}  // namespace

void bind_front_events(nb::module_& module) {
  bind_parts(module);
  bind_described<driver::RankLine>(module, "RankLine", "A rank printed a line.");
  bind_described<driver::RankRedraws>(module, "RankRedraws", "A rank draws a line anew, such as a progress bar.");
  bind_described<driver::MovingLineShown>(module, "MovingLineShown", "What the run is doing now, in a line.");
  bind_described<driver::HelperLine>(module, "HelperLine", "A process of the run that is no rank printed a line.");
  bind_described<driver::Notice>(module, "Notice", "Something to show to the user.");
  bind_described<driver::RunWarning>(module, "RunWarning", "The same, and the user may have to act.");
  bind_described<driver::ReportRecorded>(module, "ReportRecorded", "A report was accepted; for display.");
  bind_described<driver::CallbackReport>(module, "CallbackReport",
                                         "A report was accepted; for callbacks -> Run.report_heard.");
  bind_described<driver::AttemptFailed>(module, "AttemptFailed", "An attempt has failed; another one may follow.");
  bind_described<driver::SetupAsked>(module, "SetupAsked", "Call the set-up hooks -> Run.setup_finished.");
  bind_described<driver::TeardownAsked>(module, "TeardownAsked", "Call the tear-down hooks -> Run.teardown_finished.");
  bind_described<driver::CallExecuted>(module, "CallExecuted", "A rank's answer to Run.execute.");
  bind_described<driver::FunctionReturned>(module, "FunctionReturned", "Rank 0's training function has returned.");
  bind_described<driver::FunctionRaised>(module, "FunctionRaised", "A rank's training function has raised.");
  bind_described<driver::ExamineHook>(module, "ExamineHook",
                                      "What is the thread in the hook doing? -> Run.hook_examined.");
  bind_described<driver::InterruptHook>(module, "InterruptHook", "Have the hook raise an error.");
  bind_described<driver::Finished>(module, "Finished", "The run has ended. No event follows.")
      // Keeps the GIL: it computes a text.
      .def("to_json", [](const driver::Finished& self) { return to_json_text(self); })
      // Keeps the GIL: it reads a text.
      .def_static(
          "from_json",
          [](const std::string& json) { return unwrap(from_json_text<driver::Finished>(json, "a run's end")); },
          nb::arg("json"));
}

}  // namespace headway::bindings
