#pragma once

#include "control/tune/tune_controller.hpp"
#include "sim/tune/asha_model.hpp"
#include "sim/tune/scenario.hpp"
#include "sim/violation.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headway::control::tune::sim {

/// One simulated experiment, over all of its drivers. Throws `Violation` where a law does not hold.
class ExperimentWorld {
 public:
  ExperimentWorld(const Scenario& scenario, Random& random);
  void run();

 private:
  /// A trial as the world has it; its folder outlives drivers.
  struct Saved {
    std::string name;
    int step = 0;
  };
  struct Recorded {
    int step = 0;  ///< From 1.
    std::optional<std::string> checkpoint = {};
  };
  struct Trial {
    std::vector<Recorded> results;  ///< What its run has recorded.
    std::vector<Saved> saved;       ///< The newest at last, and older ones that are pinned.
    bool ended = false;             ///< A front end has heard of its end.
    bool decided = false;           ///< The journal has the verdict that stops it.
    // Of its processes:
    int life = 0;  ///< Counts its starts, and its drivers.
    bool alive = false;
    bool has_slot = false;
    bool ends = false;                ///< Its processes are about to be gone.
    bool returned = false;            ///< … by themselves, and the controller knows.
    int step = 0;                     ///< The last one that it has reported.
    std::vector<std::string> pinned;  ///< As its run knows it.
    std::int64_t waits = 0;           ///< The report that waits for its verdict; 0: none.
    std::int64_t earlier = 0;         ///< The last report that an earlier driver had not heard.
  };
  /// A line of the journal, with what it means for the model of ASHA.
  struct Line {
    std::string text;
    std::optional<TrialReported> judged = {};  ///< The report that this line decides about.
    bool is_stopped = false;
    std::int64_t ends = -1;  ///< The trial whose end its verdict is.
  };

  void run_driver(std::optional<Duration> life);
  void kill();
  void after(Duration least, Duration most, std::function<void()> work);
  /// What the front end does, one after another.
  void front(Duration most, std::function<void()> work);
  Time experiment_time() const { return base_ + (now_ - began_); }

  void handle(const TuneEvent& event);
  void write();
  void check_handled(const TuneEvent& event, const TuneCommands& commands);
  std::optional<TrialReported> decided_by(const TuneEvent& event) const;
  std::optional<TrialReported> last_of(const TuneEvent& event) const;
  void check_verdict(const TrialReported& event, const TuneCommands& commands, Line& line);
  void check_no_place_is_idle() const;
  void check_end() const;
  void check_promotions() const;
  void check_brackets() const;
  void check_copies(const TuneEvent& event, const TuneCommands& commands);
  void check_turns(const TuneCommands& commands) const;
  void check_pins() const;
  void retire(Trial& trial);
  TrialReported reported(std::int64_t number, std::int64_t report) const;
  std::string state_of(const TuneController& controller) const;
  TuneController controller_of(const std::vector<Line>& journal) const;

  void carry_out(const AskSuggestions& command);
  void carry_out(const StartTrial& command);
  void carry_out(const ReleaseTrial& command);
  void carry_out(const AnswerTrial& command);
  void carry_out(const AskVerdict& command);
  void carry_out(const AskTrial& command);
  void carry_out(const AskConfig& command);
  void carry_out(const CloneCheckpoint& command);
  void carry_out(const PinCheckpoints& command);
  void carry_out(const LogPolicy& command);
  void carry_out(const StopTrial& command);
  void carry_out(const TellEnd& command);
  void carry_out(const SetTimer& command);
  void carry_out(const FinishExperiment& command);

  void suggest(int count);
  void give_slots();
  void begin(std::int64_t number);
  void stop_later(std::int64_t number);
  void next_step(std::int64_t number);
  void report(std::int64_t number);
  void return_from(std::int64_t number);
  void end(std::int64_t number, const std::string& state, const std::string& words);

  const Scenario& scenario_;
  Random& random_;
  ExperimentSpec spec_;
  TuneController controller_;
  Time now_{};
  Time began_{};
  Time base_{};
  Time front_at_{};  ///< The front end has work until then.
  std::multimap<Time, std::function<void()>> queue_;

  std::vector<Line> journal_;
  std::vector<Line> lines_;  ///< That are not written yet.
  TuneCommands commands_;
  bool writing_ = false;
  std::optional<FinishExperiment> finish_;
  bool stopping_ = false;  ///< Somebody has ended the experiment, or an error has.

  std::vector<Trial> trials_;
  std::set<std::int64_t> ending_;    ///< The controller has decided their end.
  std::set<std::int64_t> aborted_;   ///< They have gone with the experiment, before any decision.
  bool had_nothing_ = false;         ///< The search, at any time.
  bool has_nothing_ = false;         ///< The search, and it has heard of no end since.
  std::set<std::int64_t> searched_;  ///< The search's trials, until it hears of their end.
  std::deque<std::int64_t> for_slots_;
  int slots_used_ = 0;
  std::map<std::int64_t, AskConfig> copies_;     ///< By trial, of copies that are not finished.
  std::map<std::int64_t, std::string> cloning_;  ///< By trial, the donor's checkpoint.
  std::optional<AshaModel> model_;
};

}  // namespace headway::control::tune::sim
