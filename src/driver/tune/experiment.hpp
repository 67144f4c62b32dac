#pragma once

#include "control/tune/tune_controller.hpp"
#include "driver/run.hpp"
#include "driver/run_lock.hpp"
#include "driver/tune/experiment_journal.hpp"
#include "driver/tune/experiment_queue.hpp"

#include <boost/asio.hpp>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace headway::driver {

class Runtime;

/// One experiment: feeds its controller with what its trials report and what the front end answers,
/// writes each event to the journal, and carries out what the controller commands. Decides nothing.
/// A trial is a run of the same runtime.
///
/// Events are written in groups: while one group is on its way to the file, the next one gathers.
/// Commands are carried out once the events that they come from are in the journal, where they
/// survive this process. What the front end hears of, such as a trial's end, waits for the disk
/// too: then it survives a loss of power.
///
/// The functions under "any thread" are for the front end; the others run on the driver's loop.
class Experiment : public std::enable_shared_from_this<Experiment> {
 public:
  /// Takes the experiment's folder, as its only driver, and reads what earlier drivers have left.
  /// Blocks. Errors: `invalid_argument`; `already_exists`, naming the driver that has it;
  /// `unavailable`.
  static Result<std::shared_ptr<Experiment>> open(Runtime& runtime, control::tune::ExperimentSpec spec, Owner owner);

  // Any thread:

  const std::string& path() const { return spec_.path; }
  /// Where the trial's folder is.
  std::string location_of(const control::tune::Trial& trial) const;
  int event_fd() const { return front_->event_fd(); }
  /// What happened since the last call. The last event is ExperimentEnded.
  std::vector<ExperimentEvent> take_events();
  /// As ExperimentQueue::take_each_report.
  void take_each_report(bool each) { front_->take_each_report(each); }

  /// A new trial; `config` is JSON. Errors: `invalid_argument`.
  /// `replaces`: the trial of an earlier driver whose configuration is tried once more; `tag`: as
  /// PBT's files name it.
  Result<void> suggest(const std::string& trial_id, const std::string& config, const std::string& folder,
                       const std::optional<std::string>& replaces = {}, const std::optional<std::string>& tag = {});
  void no_suggestion();
  void search_over();
  /// The answer to TrialStartWanted; with `hooks` TrialHook comes where a run asks for its hooks.
  /// Errors: those of Runtime::start_run.
  Result<void> start_trial(const std::string& trial_id, int start, RunStart run, bool hooks);
  /// The trial can't be started: it errors.
  void refuse_trial(const std::string& trial_id, int start, const std::string& message);
  /// The answer to VerdictAsked.
  void decide(const std::string& trial_id, std::int64_t number, control::tune::Verdict verdict,
              const std::string& reason);
  /// The answer to TrialChoiceAsked; empty: none of them now.
  void choose(const std::string& trial_id);
  /// The answer to ConfigAsked; `config` is JSON.
  void configure(const std::string& trial_id, std::int64_t number, const std::string& config);
  /// Ends the trial as terminated.
  void stop_trial(const std::string& trial_id, const std::string& reason);
  /// Ends the experiment; trials that had not ended stay so, and can be restored.
  void stop(const std::string& reason);
  /// A trial's run. Errors: `invalid_argument` when it has none now.
  Result<std::shared_ptr<Run>> run_of(const std::string& trial_id);

  // On the loop:

  void begin(std::int64_t id);
  /// The runtime ends: nothing may be called on it from here any more.
  void close();

 private:
  /// A trial that has been started and has not ended.
  struct Slot {
    std::string trial_id;
    int start = 1;
    std::int64_t reports = 0;
    bool hooks = false;
    bool ready = false;
    bool stopping = false;
    bool held = false;  ///< Its run waits for ReleaseTrial.
    bool waits_for_slots = false;
    /// Its ranks are ready, and wait for the verdict on reports that an earlier driver has recorded
    /// and not decided about.
    std::optional<SetupAsked> ready_ranks = {};
    std::int64_t earlier_reports = 0;               ///< The number of the last one of these.
    std::shared_ptr<Run> run = nullptr;             ///< Once the front end has answered.
    std::map<std::int64_t, JsonObject> lines = {};  ///< Reports that are not decided about.
    wire::Blob value = nullptr;
    /// By rank, of those reports.
    std::map<std::int64_t, std::vector<JsonObject>> metrics = {};
    wire::Blob exception = nullptr;
    int raised_rank = -1;
    std::optional<Finished> finished = {};
  };

  Experiment(Runtime& runtime, control::tune::ExperimentSpec spec, FoundExperiment found, RunLock lock,
             ExperimentJournal journal);

  /// Has the loop do it, unless the experiment has ended by then.
  template <class F>
  void later(F work) {
    boost::asio::post(loop_, [self = shared_from_this(), work = std::move(work)]() mutable {
      if (!self->closed_) work(*self);
    });
  }
  Time now() const;
  void handle(const control::tune::TuneEvent& event);
  void write();
  void written(const Result<void>& outcome, control::tune::TuneCommands commands, bool durable);
  void synced(const Result<void>& outcome);
  void carry_out_all(const control::tune::TuneCommands& commands);
  void write_policies();
  void fail(const std::string& why);
  void end_failed();
  /// -1: no trial has this id.
  std::int64_t number_of(const std::string& trial_id);
  Slot* slot_of(const std::string& trial_id, int start);

  void carry_out(const control::tune::AskSuggestions& command);
  void carry_out(const control::tune::StartTrial& command);
  void carry_out(const control::tune::ReleaseTrial& command);
  void carry_out(const control::tune::AnswerTrial& command);
  void carry_out(const control::tune::AskVerdict& command);
  void carry_out(const control::tune::AskTrial& command);
  void carry_out(const control::tune::AskConfig& command);
  void carry_out(const control::tune::CloneCheckpoint& command);
  void carry_out(const control::tune::PinCheckpoints& command);
  void carry_out(const control::tune::LogPolicy& command);
  void carry_out(const control::tune::StopTrial& command);
  void carry_out(const control::tune::TellEnd& command);
  void carry_out(const control::tune::SetTimer& command);
  void carry_out(const control::tune::FinishExperiment& command);

  void finish(const control::tune::FinishExperiment& command);
  void attach(const std::string& trial_id, int start, const std::shared_ptr<Run>& run, bool hooks);
  /// Looks which of the runs that belong to no trial any more have ended.
  void see_off();
  void drain(const std::string& trial_id, int start);
  /// Brings a trial that is taken up to where its own results are.
  void catch_up(const std::string& trial_id, int start, std::vector<JsonObject> lines);
  void set_up(Slot& slot, const SetupAsked& event);
  void report(Slot& slot, const JsonObject& line, const std::vector<JsonObject>& metrics);
  void on(Slot& slot, const SetupAsked& event);
  void on(Slot& slot, const TeardownAsked& event);
  void on(Slot& slot, const CallbackReport& event);
  void on(Slot& slot, const CallExecuted& event);
  void on(Slot& slot, const FunctionReturned& event);
  void on(Slot& slot, const FunctionRaised& event);
  void on(Slot& slot, const AttemptFailed& event);
  void on(Slot& slot, const RunWarning& event);
  void on(Slot& slot, const Finished& event);
  /// What is for those who watch a run alone.
  template <class Event>
  void on(Slot&, const Event&) {}

  Runtime* runtime_;
  boost::asio::io_context& loop_;
  control::tune::ExperimentSpec spec_;
  control::tune::TuneController controller_;
  std::map<std::int64_t, Slot> slots_;
  std::shared_ptr<ExperimentQueue> front_ = std::make_shared<ExperimentQueue>();
  boost::asio::steady_timer timer_;
  std::int64_t id_ = 0;
  std::vector<control::tune::FoundEnd> found_ends_;
  Time base_{};  ///< The experiment's time when this driver began.
  std::chrono::steady_clock::time_point began_;

  std::string lines_;  ///< That are to be written.
  bool durable_ = false;
  control::tune::TuneCommands commands_;  ///< That wait for those lines.
  bool writing_ = false;
  /// What waits for the disk, by group that is on its way there.
  std::deque<control::tune::TuneCommands> told_;
  bool closed_ = false;
  /// It waits for runs that are on their way, or leave.
  std::optional<control::tune::FinishExperiment> finish_ = {};
  std::vector<std::shared_ptr<Run>> leaving_;  ///< Started for a trial that had ended by then.
  std::vector<std::shared_ptr<Run>> held_;     ///< Whose reports wait for the front end.
  std::optional<std::string> failure_;         ///< Events have no effect from then on.

  boost::asio::strand<boost::asio::thread_pool::executor_type> storage_;
  /// Brings the journal there.
  boost::asio::strand<boost::asio::thread_pool::executor_type> disk_;
  // On the first strand:
  std::optional<RunLock> lock_;
  std::shared_ptr<ExperimentJournal> journal_;

  std::atomic<int> attaching_ = 0;  ///< Runs that are started, and that the loop has not heard of.
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Run>> runs_;       ///< By trial_id.
  std::unordered_map<std::string, std::int64_t> numbers_;  ///< By trial_id, of all.
};

}  // namespace headway::driver
