#include "library/handle_loops.hpp"

#include <future>
#include <iostream>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace headway::test {
namespace {

/// Until it is stopped.
void report_for_ever() {
  for (int i = 0;; ++i) report({{"i", i}});
}

void print_and_report() {
  std::cout << "hello\n" << std::flush;
  for (int i = 0; i < 3; ++i) report({{"i", i}});
}

void fail_at_once() { throw std::runtime_error("bad batch"); }

HEADWAY_TRAIN_LOOP(report_for_ever);
HEADWAY_TRAIN_LOOP(print_and_report);
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

std::string text_of(const events::RankLine& event) { return "line " + std::to_string(event.rank) + " " + event.line; }
std::string text_of(const events::HelperLine& event) { return "helper line " + event.line; }
std::string text_of(const events::Notice& event) { return "notice " + event.text; }
std::string text_of(const events::RunWarning& event) { return "warning " + event.text; }
std::string text_of(const events::ReportRecorded& event) { return "report " + event.line.at("i").dump(); }
std::string text_of(const events::AttemptFailed& event) {
  const auto& [rank, words] = *event.failures.begin();
  return "failed attempt " + std::to_string(event.attempt) + " in one of 2: " + (rank < 2 ? words : "no such rank");
}
std::string text_of(const events::Finished& event) {
  return "end " + event.state + " attempts " + std::to_string(event.attempts);
}

/// Prints all that happens, after the program's own output.
Result<TrainResult> watch_by_handle(RunHandle& run) {
  std::string seen;
  if (run.next_event(std::chrono::seconds(0))) seen += "an event within no time\n";
  while (const auto event = run.next_event()) {
    seen += "event " + std::visit([](const auto& what) { return text_of(what); }, *event) + "\n";
  }
  (void)run.wait();
  if (run.next_event()) seen += "an event after the end\n";
  std::cout << seen << std::flush;
  return run.wait();
}

}  // namespace

std::map<std::string, TrainLoop> handle_loops() {
  return {{"stopped_by_its_handle", report_for_ever},   {"abandoned_by_its_handle", report_for_ever},
          {"failing_under_a_handle", fail_at_once},     {"watched_by_its_handle", print_and_report},
          {"handle_in_a_child", report_for_ever},       {"handle_without_a_thread", print_and_report},
          {"failing_while_it_is_watched", fail_at_once}};
}

bool is_handled(const std::string& mode) { return handle_loops().contains(mode); }

void listen_by_handle(const std::string& mode, TrainerOptions& options) {
  if (!is_handled(mode)) return;
  first_report = std::make_shared<FirstReport>();
  options.callbacks = {first_report};
}

namespace {

/// What the handle says in a child that this process forks.
void ask_in_child(RunHandle& run) {
  std::cout << std::flush;
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  try {
    run.stop();
  } catch (const BadResult& refused) {
    std::cout << "stop: " << refused.what() << '\n';
  }
  std::cout << "wait: " << run.wait().error().message << '\n';
  {
    const RunHandle goes = std::move(run);
  }
  std::cout << "the handle is gone\n" << std::flush;
  _exit(0);
}

}  // namespace

Result<TrainResult> run_by_handle(const std::string& mode, Trainer trainer) {
  Result<RunHandle> started = trainer.start();
  if (!started) return started.error();
  RunHandle run = std::move(*started);
  if (mode == "handle_in_a_child") ask_in_child(run);
  if (mode == "watched_by_its_handle" || mode == "failing_while_it_is_watched") return watch_by_handle(run);
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
