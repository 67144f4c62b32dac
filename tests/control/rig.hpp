#pragma once

#include "control/run_controller.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A run controller with a test in the driver's place: a clock moved by hand, every command kept,
/// every answer given by hand.
namespace headway::control {

using namespace std::chrono_literals;

inline RunSpec spec_of(int workers, int max_failures = 0) {
  RunSpec spec;
  spec.run = {"run", "/storage"};
  spec.scaling.num_workers = workers;
  spec.failure.max_failures = max_failures;
  return spec;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline CheckpointOffer files(const std::vector<std::string>& names) {
  CheckpointOffer offer;
  for (const std::string& name : names) offer.files.push_back({name, 1, "xxh3:0000000000000001", 0});
  return offer;
}

class Rig {
 public:
  explicit Rig(RunSpec spec) : workers(spec.scaling.num_workers), controller(std::move(spec)) {}

  /// Hands the event in; returns what the controller wants for it and keeps that in `log` too.
  const Commands& send(const Event& event) {
    latest = controller.handle(now, event);
    for (const Command& command : latest) note(command);
    return latest;
  }

  /// Moves the clock; timers that come due on the way fire at their times.
  void advance(Duration by) {
    const Time until = now + by;
    while (true) {
      const auto next =
          std::min_element(timers.begin(), timers.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
      if (next == timers.end() || next->at > until) break;
      const SetTimer timer = *next;
      timers.erase(next);
      now = std::max(now, timer.at);
      send(TimerFired{timer.timer});
    }
    now = until;
  }

  // Steps of a run as the driver would report them; each gives one event (or one for each rank).
  void start() { send(StartAsked{}); }
  void storage_ready() { send(StoragePrepared{}); }
  void grant(std::vector<std::string> warnings = {}) {
    const std::vector<Slot> slots(static_cast<std::size_t>(workers), Slot{"node-a", "host-a", "10.0.0.1", 1, {}});
    send(NodesGranted{slots, std::move(warnings)});
  }
  void ready(int rank) { send(WorkerReady{attempt(), rank, 100 * attempt() + rank}); }
  void all_ready() {
    for (int rank = 0; rank < workers; ++rank) ready(rank);
  }
  void setup_done() { send(SetupFinished{attempt(), {}}); }
  void report(int rank, JsonObject metrics = {}, std::optional<CheckpointOffer> checkpoint = {}) {
    send(RankReported{attempt(), rank, reports[static_cast<std::size_t>(rank)]++, std::move(metrics),
                      std::move(checkpoint)});
  }
  void report_all(const JsonObject& metrics = {}, const std::optional<CheckpointOffer>& checkpoint = {}) {
    for (int rank = 0; rank < workers; ++rank) report(rank, metrics, rank == 0 ? checkpoint : std::nullopt);
  }
  void begun() { send(CheckpointBegun{last<BeginCheckpoint>().attempt, last<BeginCheckpoint>().index, {}}); }
  void uploaded(int rank) {
    const auto order = order_for(rank);
    std::vector<FileRecord> records;
    for (const std::string& name : order.files) records.push_back({name, 1, "xxh3:0000000000000001", rank});
    send(RankUploaded{order.attempt, rank, order.index, records, {}});
  }
  void upload_failed(int rank, const std::string& error) {
    send(RankUploaded{order_for(rank).attempt, rank, order_for(rank).index, {}, error});
  }
  void committed(std::optional<Error> error = {}) {
    send(CheckpointCommitted{last<CommitCheckpoint>().index, std::move(error)});
  }
  /// Report, files and commit, all of it: the checkpoint's name.
  std::string checkpoint(const JsonObject& metrics = {}) {
    report_all(metrics, files({"model.pt"}));
    begun();
    uploaded(0);
    committed();
    return last<CommitCheckpoint>().manifest.checkpoint;
  }
  /// The oldest DeleteCheckpoint that has no answer yet has come to its end.
  void deleted(std::optional<Error> error = {}) {
    BOOST_REQUIRE(!deletions_open.empty());
    const std::string name = deletions_open.front();
    deletions_open.erase(deletions_open.begin());
    send(CheckpointDeleted{name, std::move(error)});
  }
  void returns(int rank) { send(RankReturned{attempt(), rank}); }
  void raises(int rank, const std::string& message, bool echo = false) {
    send(RankRaised{
        attempt(), rank, {echo ? "RuntimeError" : "ValueError", message, "  File \"train.py\", line 3\n", echo}});
  }
  void exits(int rank, ExitStatus status, const std::string& log_tail = "") {
    gone[static_cast<std::size_t>(rank)] = true;
    send(WorkerExited{attempt(), rank, std::move(status), log_tail});
  }
  void killed(int rank, int signal = 9) { exits(rank, {true, signal, ""}); }
  /// All that still live end as `status` says, then the group has ended.
  void group_ends(const ExitStatus& status = {true, 9, ""}) {
    for (int rank = 0; rank < workers; ++rank) {
      if (!gone[static_cast<std::size_t>(rank)]) exits(rank, status);
    }
    send(GroupEnded{attempt()});
  }
  /// Answers the latest examination: each rank is seen in a function of its number.
  void examined(const ProcessSeen& seen = {}) {
    const ExamineRanks order = last<ExamineRanks>();
    std::map<int, ProcessSeen> processes;
    for (int rank : order.ranks) {
      processes[rank] = seen;
      processes[rank].text = "in function_" + std::to_string(rank) + "\n";
    }
    send(RanksExamined{order.attempt, order.examination, processes, order.hook ? "in the_hook\n" : ""});
  }
  void teardown_done() { send(TeardownFinished{attempt()}); }
  void journal(std::optional<Error> error = {}) {
    --journals_open;
    send(JournalWritten{std::move(error)});
  }
  void journals() {
    while (journals_open > 0) journal();
  }

  // The way to a state.
  void to_starting() {
    start();
    storage_ready();
    grant();
  }
  void to_running() {
    to_starting();
    restart();
  }
  /// From StartWorkers to the training function.
  void restart() {
    all_ready();
    setup_done();
  }
  void finish_all() {
    for (int rank = 0; rank < workers; ++rank) returns(rank);
    teardown_done();
    group_ends({false, 0, ""});
    while (!deletions_open.empty()) deleted();
    journals();
  }

  // What the controller asked for.
  template <class C>
  std::vector<C> all() const {
    return of<C>(log);
  }
  template <class C>
  std::vector<C> of_latest() const {
    return of<C>(latest);
  }
  template <class C>
  std::size_t count() const {
    return all<C>().size();
  }
  template <class C>
  C last() const {
    const std::vector<C> found = all<C>();
    BOOST_REQUIRE(!found.empty());
    return found.back();
  }
  /// Where the n-th C stands in `log`.
  template <class C>
  std::size_t place(std::size_t n = 0) const {
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (std::holds_alternative<C>(log[i]) && n-- == 0) return i;
    }
    BOOST_FAIL("the command was never given");
    return log.size();
  }
  RunState state() const { return controller.state(); }
  int attempt() const { return controller.attempt(); }
  RunOutcome outcome() const { return last<Finish>().outcome; }
  std::string failure() const {
    const RunOutcome end = outcome();
    return end.failure ? end.failure->message : "";
  }
  std::size_t restarts() const { return count<StartWorkers>() - 1; }

  int workers;
  RunController controller;
  Time now{};
  Commands log;
  Commands latest;
  std::vector<SetTimer> timers;
  std::vector<std::int64_t> reports;
  std::vector<bool> gone;
  int journals_open = 0;
  std::vector<std::string> deletions_open;

 private:
  template <class C>
  static std::vector<C> of(const Commands& commands) {
    std::vector<C> found;
    for (const Command& command : commands) {
      if (const C* it = std::get_if<C>(&command)) found.push_back(*it);
    }
    return found;
  }

  UploadFiles order_for(int rank) const {
    for (const Command& order : std::views::reverse(log)) {
      const auto* upload = std::get_if<UploadFiles>(&order);
      if (upload != nullptr && upload->rank == rank) return *upload;
    }
    BOOST_FAIL("no upload was ordered of this rank");
    return {};
  }

  void note(const Command& command) {
    BOOST_TEST((log.empty() || !std::holds_alternative<Finish>(log.back())), "a command after Finish");
    log.push_back(command);
    if (std::holds_alternative<StartWorkers>(command)) {
      reports.assign(static_cast<std::size_t>(workers), 0);
      gone.assign(static_cast<std::size_t>(workers), false);
    } else if (const auto* timer = std::get_if<SetTimer>(&command)) {
      timers.push_back(*timer);
    } else if (std::holds_alternative<WriteJournal>(command)) {
      ++journals_open;
    } else if (const auto* deletion = std::get_if<DeleteCheckpoint>(&command)) {
      deletions_open.push_back(deletion->name);
    }
  }
};

/// One worker on each of these nodes.
inline void grant_on(Rig& run, const std::vector<std::string>& nodes) {
  std::vector<Slot> slots;
  for (const std::string& node : nodes) slots.push_back({node, "host-" + node, "10.0.0.1", 1, {}});
  run.workers = static_cast<int>(nodes.size());
  run.send(NodesGranted{slots, {}});
}

inline std::string error_text(const std::vector<AnswerReport>& answers, std::size_t n) {
  return answers.at(n).error.value_or("");
}

}  // namespace headway::control
