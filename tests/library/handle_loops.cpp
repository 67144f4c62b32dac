#include "library/handle_loops.hpp"

#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace headway::test {
namespace {

/// Until it is stopped.
void report_for_ever() {
  for (int i = 0;; ++i) report({{"i", i}});
}

void fail_at_once() { throw std::runtime_error("bad batch"); }

HEADWAY_TRAIN_LOOP(report_for_ever);
HEADWAY_TRAIN_LOOP(fail_at_once);

class FirstReport : public Callback {
 public:
  void after_report(const std::vector<Json>&, const std::optional<Checkpoint>&) override {
    if (!std::exchange(heard_, true)) first_.set_value();
  }
  void wait() { first_.get_future().wait(); }

 private:
  std::promise<void> first_;
  bool heard_ = false;
};

std::shared_ptr<FirstReport> first_report;

}  // namespace

std::map<std::string, TrainLoop> handle_loops() {
  return {{"stopped_by_its_handle", report_for_ever},
          {"abandoned_by_its_handle", report_for_ever},
          {"failing_under_a_handle", fail_at_once}};
}

bool is_handled(const std::string& mode) { return handle_loops().contains(mode); }

void listen_by_handle(const std::string& mode, TrainerOptions& options) {
  if (!is_handled(mode)) return;
  first_report = std::make_shared<FirstReport>();
  options.callbacks = {first_report};
}

Result<TrainResult> run_by_handle(const std::string& mode, Trainer trainer) {
  Result<RunHandle> started = trainer.start();
  if (!started) return started.error();
  RunHandle run = std::move(*started);
  if (mode == "failing_under_a_handle") {
    const Result<TrainResult> first = run.wait();
    std::cout << std::string(first ? "first 1" : "first 0") + (run.done() ? " done 1\n" : " done 0\n") << std::flush;
    return run.wait();
  }
  first_report->wait();
  const bool early = run.wait_for(std::chrono::milliseconds(1)).has_value();
  // In one piece: the table of reports is printed by another thread.
  std::cout << std::string(early ? "ended early 1" : "ended early 0") + (run.done() ? " done 1\n" : " done 0\n")
            << std::flush;
  if (mode == "abandoned_by_its_handle") return Error{ErrorKind::aborted, "the handle of " + run.path() + " goes"};
  std::thread([&] { run.stop("far enough"); }).join();
  run.wait().value();
  std::cout << (run.done() ? "now done 1\n" : "now done 0\n") << std::flush;
  run.stop("nobody is there any more");
  return run.wait_for(std::chrono::seconds(0)).value();
}

}  // namespace headway::test
