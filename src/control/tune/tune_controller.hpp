#pragma once

#include "control/tune/commands.hpp"
#include "control/tune/events.hpp"
#include "control/tune/trial.hpp"

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headway::control::tune {

/// Decides for one experiment: which trials run, and which of them go on after a report. A function
/// of its state, the time and an event: no I/O, no clock, no threads. The time is the experiment's
/// own: it counts while a driver is at work.
///
/// A trial: waiting → starting → running ⇄ paused → terminated or errored. Each is an ordinary run
/// (RunController), which restarts by its own budget. It has a place until its processes are gone;
/// one that claims CPUs alone, until its function has returned. The engine has the slots: up to
/// `starting_at_once()` trials are starting, where they may wait for slots, so that a slot that
/// gets free finds a trial whose folder is prepared, and the search has its next suggestion ready.
/// Where `max_concurrent` is the limit, `prepares` of them are held: made ready, and not let in.
///
/// The state is a function of the events: handling a journal's events again, and leaving their
/// commands, makes the controller of an earlier driver again, with all that its scheduler and its
/// random numbers have seen.
class TuneController {
 public:
  TuneCommands handle(Time now, const TuneEvent& event);

  /// Drops of a trial that has ended what no decision asks for again: its last numbers, why it
  /// ended, and, where no trial may continue from it, its configuration and folder.
  void forget_ended(std::int64_t number);

  /// From the first DriverBegan on.
  const ExperimentSpec& spec() const { return spec_; }
  /// In the order of their suggestion.
  const std::vector<Trial>& trials() const& { return trials_; }
  std::vector<Trial> trials() && { return std::move(trials_); }
  const Scheduler& scheduler() const { return scheduler_; }
  bool search_over() const { return search_over_; }
  bool finished() const { return finished_; }
  /// The metrics of a report that TrialReported is to have.
  const std::set<std::string>& needed_numbers() const { return needed_; }
  /// A trial's checkpoints that others continue from, or may do so.
  std::vector<std::string> pinned(std::int64_t trial) const;
  /// What PBT has done, as lines of its files: all of it, and how each trial has come to be.
  const std::vector<std::string>& policy_log() const { return policy_log_; }
  std::vector<std::string> policy(std::int64_t trial) const;

  /// How many trials are made ready before there is a place for them.
  int ahead() const;
  /// How many of them may be starting.
  int starting_at_once() const;
  /// Trials that are made ready and wait for a place among `max_concurrent`.
  const std::set<std::int64_t>& held() const { return held_; }
  /// How long a trial may go on after the time has ended before it is ended between two reports.
  static constexpr Duration over_time = std::chrono::seconds(5);

 private:
  /// What is known of trials that have not ended.
  struct Live {
    std::optional<std::int64_t> asked = {};  ///< The front end's verdict on this report.
    Decision proposed = {};                  ///< The scheduler's on the same.
    std::optional<bool> others_wait = {};    ///< As the same says.
    std::optional<Decision> ending = {};     ///< It is to end, or to pause.
    bool errs = false;                       ///< … because its report was wrong.
  };

  /// To the search, which has not answered it yet.
  struct Question {
    int open = 0;              ///< Suggestions that it may still bring.
    bool ended_since = false;  ///< A trial, which the search did not know when it was asked.
  };

  void on(const DriverBegan& event);
  void on(const TrialSuggested& event);
  void on(const NothingSuggested& event);
  void on(const SearchOver& event);
  void on(const TrialReady& event);
  void on(const TrialReported& event);
  void on(const FrontDecided& event);
  void on(const TrialReturned& event);
  void on(const TrialGone& event);
  void on(const TrialChosen& event);
  void on(const TrialConfigured& event);
  void on(const CheckpointCloned& event);
  void on(const TrialStopAsked& event);
  void on(const ExperimentStopAsked& event);
  void on(const TimeCame& event);

  /// A trial that goes on as a copy of another one, or of itself with another configuration.
  struct Copying {
    SideEffects::Copy copy;
    std::int64_t number = 0;
    std::string donor_config = {};
    std::optional<std::string> config = {};  ///< Once the front end has it.
    bool clones = false;                     ///< The driver brings the checkpoint.
    std::optional<std::string> ends = {};    ///< It ends then, for this reason.
  };

  void begin_copy(SideEffects::Copy copy);
  void go_on_with_copy(std::int64_t number);
  void finish_copy(std::int64_t number, const std::optional<std::string>& checkpoint);
  void log_policy(const Copying& copied);
  void take_up_copies();
  void end_paused(std::int64_t number, const std::string& reason);
  void tell_pins();
  bool others_wait() const;

  void settle_earlier(const DriverBegan& event);
  void end_as_told(std::int64_t number, const Live& here);
  void take_up(std::int64_t number, bool anew, SideEffects& effects);
  Trial* live(std::int64_t number);
  std::optional<Decision> missing(const TrialReported& event) const;
  std::optional<std::string> stop_reached(const TrialReported& event) const;
  /// A decision about a report, and whether the front end cannot change it.
  struct Judgement {
    Decision decision;
    bool is_final = false;
  };
  Judgement judge(const TrialReported& event, std::optional<std::string> reached = {});
  std::string copy_words(const SideEffects::Copy& copy) const;
  std::string budget_words() const;
  void answer(std::int64_t number, std::int64_t report, Decision decision);
  void apply(SideEffects& effects);
  void complete(std::int64_t number, const std::string& words);
  void paused(std::int64_t number, const std::string& reason);
  void end(std::int64_t number, TrialState state, std::string reason);
  void resume(std::int64_t number);
  void stop(std::string reason, bool aborts);
  void tell_end(std::int64_t number, const std::string& state, const std::string& reason);
  int asked() const;
  /// How many of those that are starting are beyond `max_concurrent`.
  int prepared() const;
  /// How many trials have a place, or are to have one.
  int inside() const;
  bool has_place() const;
  /// Whether one more trial may run.
  bool may_run() const;
  void release();
  std::optional<std::int64_t> next_trial();
  std::optional<std::int64_t> next_in_turn();
  std::set<std::int64_t> resumable() const;
  void fill();
  void ask_for_trial();
  void start(std::int64_t number);
  void ask_for_more();
  void finish_when_done();

  ExperimentSpec spec_;
  Scheduler scheduler_;
  std::set<std::string> needed_;
  std::set<std::string> required_;  ///< Those that a report must have.
  std::vector<Trial> trials_;
  std::map<std::int64_t, Live> live_;  ///< Those that have been started and have not ended.
  std::set<std::int64_t> waiting_;     ///< The first one goes first.
  std::set<std::int64_t> held_;        ///< Of those that are starting. The first one goes first.
  std::set<std::int64_t> returned_;    ///< Live ones without a place: their processes end.
  std::set<std::int64_t> paused_;
  std::set<std::int64_t> paused_by_front_;  ///< They wait for a place alone.
  bool choosing_ = false;                   ///< The front end was asked which trial starts.
  bool none_chosen_ = false;                ///< It said none, and nothing has happened since.
  std::set<std::int64_t> promised_;         ///< To be paused, and then to continue.
  std::map<std::int64_t, Copying> copying_;
  std::vector<AskConfig> questions_of_copies_;
  std::int64_t copies_ = 0;                                ///< That were begun.
  std::map<std::int64_t, std::vector<std::string>> pins_;  ///< As the driver knows them.
  std::vector<std::string> policy_log_;
  std::map<std::int64_t, std::vector<std::size_t>> policy_of_;  ///< By trial, lines of the log.
  int starting_ = 0;
  std::deque<Question> questions_;  ///< In their order, in which they are answered.
  bool search_over_ = false;
  bool search_waits_ = false;  ///< It had nothing, and nothing has happened since it was asked.
  bool time_over_ = false;
  Time budget_end_{};  ///< Each driver has the whole budget.
  std::optional<std::string> stop_reason_;
  bool finished_ = false;
  Time now_{};
  TuneCommands commands_;
};

}  // namespace headway::control::tune
