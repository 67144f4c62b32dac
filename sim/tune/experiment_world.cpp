#include "sim/tune/experiment_world.hpp"

#include <algorithm>

/// A driver's life, the journal, and the laws.
namespace headway::control::tune::sim {

using namespace std::chrono_literals;
using ::headway::sim::require;

namespace {

constexpr const char* counted_once = "each trial ends once, and says why";
constexpr const char* liveness = "the experiment ends";
constexpr const char* same_state = "the journal gives the controller that wrote it";
constexpr const char* verdicts = "each report has one verdict, and it is that of an independent model";
constexpr const char* halved = "a bracket of HyperBand is halved when all of its trials are there";
constexpr const char* no_idle_place = "no trial waits while there is a place for it";

std::optional<AshaModel> model_of(const ExperimentSpec& spec) {
  const JsonObject& arguments = spec.scheduler;
  if (arguments.at("kind").as_string() != "asha" || arguments.at("promote").as_bool()) return std::nullopt;
  AshaSpec asha;
  asha.max_t = arguments.at("max_t").to_number<double>();
  asha.reduction_factor = arguments.at("reduction_factor").to_number<double>();
  asha.stop_last_trials = arguments.at("stop_last_trials").as_bool();
  return AshaModel(asha);
}

}  // namespace

ExperimentWorld::ExperimentWorld(const Scenario& scenario, Random& random)
    : scenario_(scenario), random_(random), spec_(scenario.spec), trials_(scenario.courses.size()) {}

void ExperimentWorld::run() {
  for (const Duration life : scenario_.kills) {
    run_driver(life);
    if (finish_) break;
  }
  if (!finish_) run_driver(std::nullopt);
  check_end();
  // What somebody has stopped can be restored, and then comes to its end.
  if (!stopping_) return;
  spec_.fail_fast = false;
  spec_.restore.errored = true;
  for (std::size_t i = 0; i < controller_.trials().size(); ++i) {
    if (controller_.trials()[i].state == TrialState::errored) trials_[i].ended = false;
  }
  run_driver(std::nullopt);
  check_end();
}

void ExperimentWorld::after(Duration least, Duration most, std::function<void()> work) {
  queue_.emplace(now_ + random_.between(least, most), std::move(work));
}

void ExperimentWorld::front(Duration most, std::function<void()> work) {
  front_at_ = std::max(front_at_, now_) + random_.between(Duration::zero(), most);
  queue_.emplace(front_at_, std::move(work));
}

void ExperimentWorld::run_driver(std::optional<Duration> life) {
  base_ = journal_.empty() ? Time{} : from_line(journal_.back().text).value().at;
  began_ = front_at_ = now_;
  finish_.reset();
  has_nothing_ = false;
  stopping_ = false;
  handle(DriverBegan{spec_, 0});
  if (!life && scenario_.stop_after && !spec_.restore.errored) {
    after(*scenario_.stop_after, *scenario_.stop_after, [this] {
      stopping_ = true;
      handle(ExperimentStopAsked{"the user said so"});
    });
  }
  const std::optional<Time> dies = life ? std::optional(now_ + *life) : std::nullopt;
  for (int events = 0; !queue_.empty() && !finish_; ++events) {
    require(events < 20'000, liveness, "it goes on for ever");
    if (dies && queue_.begin()->first > *dies) break;
    const auto first = queue_.extract(queue_.begin());
    now_ = first.key();
    first.mapped()();
  }
  require(life || finish_, liveness, "nothing is left to happen, and it has not ended");
  kill();
}

/// What is on its way to the journal may have come there, or a part of it.
void ExperimentWorld::kill() {
  const auto kept = static_cast<std::size_t>(random_.below(static_cast<int>(lines_.size()) + 1));
  const bool all = kept == lines_.size();
  journal_.insert(journal_.end(), lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(kept));
  lines_.clear();
  commands_.clear();
  queue_.clear();
  for_slots_.clear();
  ending_.clear();
  aborted_.clear();
  writing_ = false;
  slots_used_ = 0;
  copies_.clear();
  cloning_.clear();
  for (Trial& trial : trials_) {
    trial.alive = trial.has_slot = false;
    trial.pinned.clear();
    ++trial.life;
  }
  TuneController restored = controller_of(journal_);
  if (all) require(state_of(restored) == state_of(controller_), same_state, "it does not");
  controller_ = std::move(restored);
  searched_.clear();
  for (std::size_t i = 0; i < controller_.trials().size(); ++i) {
    if (!is_over(controller_.trials()[i].state)) searched_.insert(static_cast<std::int64_t>(i));
  }
  model_ = model_of(spec_);
  for (const Line& line : journal_) {
    if (line.ends >= 0) trials_.at(static_cast<std::size_t>(line.ends)).decided = true;
    if (!model_ || !line.judged) continue;
    const TrialReported& event = *line.judged;
    const double sign = spec_.mode == "min" ? -1 : 1;
    (void)model_->ends(event.trial, event.numbers.at("training_iteration"), sign * event.numbers.at("score"),
                       line.is_stopped);
  }
}

std::string ExperimentWorld::state_of(const TuneController& controller) const {
  return json_text(to_json(controller.trials())) + json_text(controller.scheduler().to_json()) +
         json_text(to_json(controller.policy_log()));
}

TuneController ExperimentWorld::controller_of(const std::vector<Line>& journal) const {
  TuneController controller;
  for (const Line& line : journal) {
    const LoggedEvent logged = from_line(line.text).value();
    (void)controller.handle(logged.at, logged.event);
  }
  return controller;
}

void ExperimentWorld::handle(const TuneEvent& event) {
  const std::optional<TrialReported> decided = decided_by(event);
  const std::optional<TrialReported> last = last_of(event);
  if (!model_) model_ = model_of(spec_);
  const Time at = experiment_time();
  const TuneCommands commands = controller_.handle(at, event);
  Line line{to_line(at, event)};
  if (decided) {
    line.is_stopped =
        std::holds_alternative<FrontDecided>(event) && std::get<FrontDecided>(event).verdict == Verdict::stop;
    check_verdict(*decided, commands, line);
  }
  if (model_ && last) {
    line.judged = last;
    line.is_stopped = true;
    const double sign = spec_.mode == "min" ? -1 : 1;
    (void)model_->ends(last->trial, last->numbers.at("training_iteration"), sign * last->numbers.at("score"), true);
  }
  check_handled(event, commands);
  for (const TuneCommand& command : commands) {
    const auto* answer = std::get_if<AnswerTrial>(&command);
    if (answer != nullptr && answer->decision.verdict == Verdict::stop) line.ends = answer->trial;
  }
  lines_.push_back(std::move(line));
  commands_.insert(commands_.end(), commands.begin(), commands.end());
  if (!writing_) write();
}

void ExperimentWorld::write() {
  writing_ = true;
  const std::size_t count = lines_.size();
  const std::size_t commands = commands_.size();
  after(0ms, 5ms, [this, count, commands] {
    const auto end = lines_.begin() + static_cast<std::ptrdiff_t>(count);
    journal_.insert(journal_.end(), lines_.begin(), end);
    lines_.erase(lines_.begin(), end);
    const auto last = commands_.begin() + static_cast<std::ptrdiff_t>(commands);
    const TuneCommands due(commands_.begin(), last);
    commands_.erase(commands_.begin(), last);
    writing_ = false;
    for (const TuneCommand& command : due) {
      std::visit([this](const auto& what) { carry_out(what); }, command);
    }
    if (lines_.empty()) check_pins();
    if (!lines_.empty() && !writing_) write();
  });
}

void ExperimentWorld::check_handled(const TuneEvent& event, const TuneCommands& commands) {
  if (const auto* gone = std::get_if<TrialGone>(&event)) {
    if (gone->state == "aborted" && !ending_.contains(gone->trial)) aborted_.insert(gone->trial);
    ending_.erase(gone->trial);
    if (gone->state == "errored" && spec_.fail_fast) stopping_ = true;
  }
  if (std::holds_alternative<NothingSuggested>(event)) had_nothing_ = true;
  for (const TuneCommand& command : commands) {
    if (const auto* answer = std::get_if<AnswerTrial>(&command)) {
      if (answer->decision.verdict != Verdict::go_on) ending_.insert(answer->trial);
    } else if (const auto* stop = std::get_if<StopTrial>(&command); stop != nullptr && !stop->aborts) {
      ending_.insert(stop->trial);
    }
  }
  check_no_place_is_idle();
  check_brackets();
  check_copies(event, commands);
  check_turns(commands);
}

/// The report that is decided about with this event: none of a trial that is ending, nor of one
/// that the front end pauses.
std::optional<TrialReported> ExperimentWorld::decided_by(const TuneEvent& event) const {
  if (const auto* reported = std::get_if<TrialReported>(&event)) {
    return ending_.contains(reported->trial) ? std::nullopt : std::optional(*reported);
  }
  const auto* front = std::get_if<FrontDecided>(&event);
  if (front == nullptr || front->verdict == Verdict::pause || ending_.contains(front->trial)) return std::nullopt;
  return TrialReported{front->trial, front->number,
                       controller_.trials().at(static_cast<std::size_t>(front->trial)).last};
}

/// The last report of a trial that has ended by itself: it counts then, even if the front end had
/// paused the trial at it.
std::optional<TrialReported> ExperimentWorld::last_of(const TuneEvent& event) const {
  const auto* gone = std::get_if<TrialGone>(&event);
  if (gone == nullptr || gone->state != "finished" || ending_.contains(gone->trial)) return std::nullopt;
  const auto& trial = controller_.trials().at(static_cast<std::size_t>(gone->trial));
  if (trial.reports == 0) return std::nullopt;
  return TrialReported{gone->trial, trial.reports, trial.last};
}

/// A verdict must be the model's. There is none yet where the front end is asked first.
void ExperimentWorld::check_verdict(const TrialReported& event, const TuneCommands& commands, Line& line) {
  const double score = event.numbers.at("score");
  const bool time_over = spec_.time_budget_s && now_ >= began_ + from_seconds(*spec_.time_budget_s);
  line.is_stopped = line.is_stopped || (spec_.stop && score >= spec_.stop->at("score"));
  std::optional<Verdict> verdict;
  bool is_late = false;
  for (const TuneCommand& command : commands) {
    if (const auto* answer = std::get_if<AnswerTrial>(&command)) {
      require(answer->trial == event.trial && answer->number == event.number, verdicts, "it answers another report");
      verdict = answer->decision.verdict;
      is_late = answer->decision.reason.starts_with("the time budget");
    }
  }
  require(verdict || spec_.asks || spec_.overrules, verdicts, "a report has none");
  if (!verdict) return;
  line.judged = event;
  if (!model_) return;
  require(!is_late || time_over, verdicts, "the time budget has not ended");
  line.is_stopped = line.is_stopped || is_late;
  const double sign = spec_.mode == "min" ? -1 : 1;
  const bool ends = model_->ends(event.trial, event.numbers.at("training_iteration"), sign * score, line.is_stopped) ||
                    line.is_stopped;
  const bool ended = *verdict != Verdict::go_on;
  require(ends == ended, verdicts, "trial " + std::to_string(event.trial) + ", report " + std::to_string(event.number));
}

void ExperimentWorld::check_no_place_is_idle() const {
  const bool time_over = spec_.time_budget_s && now_ >= began_ + from_seconds(*spec_.time_budget_s);
  if (stopping_ || time_over || spec_.chooses || controller_.finished()) return;
  int starting = 0;
  int running = 0;
  int waiting = 0;
  int makes_way = 0;  // Trials of PBT that need nothing but a place.
  const JsonObject& scheduler = spec_.scheduler;
  const boost::json::string& kind = scheduler.at("kind").as_string();
  const bool takes_turns = kind == "pbt" && !scheduler.at("synch").as_bool();
  for (std::size_t i = 0; i < controller_.trials().size(); ++i) {
    const auto& trial = controller_.trials()[i];
    const bool is_copied = copies_.contains(static_cast<std::int64_t>(i));
    makes_way += takes_turns && trial.state == TrialState::paused && !is_copied ? 1 : 0;
    starting += trial.state == TrialState::starting ? 1 : 0;
    const bool has_left = kind != "pbt" && trials_[i].alive && trials_[i].returned;
    running += trial.state == TrialState::running && !has_left ? 1 : 0;
    waiting += trial.state == TrialState::waiting && !trial.left ? 1 : 0;
  }
  const int held = static_cast<int>(controller_.held().size());
  const int inside = starting + running - held;
  if (spec_.max_concurrent) require(inside <= *spec_.max_concurrent, "max_concurrent holds", "it does not");
  const bool has_place = !spec_.max_concurrent || inside < *spec_.max_concurrent;
  require(waiting == 0 || starting >= controller_.ahead() || !has_place, no_idle_place,
          std::to_string(waiting) + " trials wait");
  require(makes_way == 0 || !controller_.search_over() || starting >= controller_.ahead() || !has_place, no_idle_place,
          std::to_string(makes_way) + " trials have made way for others");
  require(held == 0 || !has_place, no_idle_place, std::to_string(held) + " trials are held");
}

void ExperimentWorld::check_end() const {
  require(finish_ && !finish_->reason.empty(), counted_once, "the experiment ends without a reason");
  if (spec_.time_budget_s) {
    const Time last = began_ + from_seconds(*spec_.time_budget_s);
    require(now_ <= last + TuneController::over_time + 1s, liveness, "its time has ended long ago");
  }
  if (finish_->state != "finished") return;
  require(controller_.search_over() || has_nothing_, liveness, "the search was not asked for more");
  check_promotions();
  for (std::size_t i = 0; i < controller_.trials().size(); ++i) {
    require(is_over(controller_.trials()[i].state), liveness, "trial " + std::to_string(i) + " has not ended");
    require(!controller_.trials()[i].reason.empty(), counted_once, "a trial ends without a reason");
    // A driver may die between the journal and whoever is to hear of it.
    require(trials_[i].ended || !scenario_.kills.empty(), counted_once,
            "nobody has heard of the end of trial " + std::to_string(i));
  }
}

/// Of trials that paused at a milestone of ASHA those that were promoted have gone on.
void ExperimentWorld::check_promotions() const {
  const Json scheduler = controller_.scheduler().to_json();
  // With nothing to start, those that pause are given up, so that the search hears of their end.
  if (scheduler.at("kind").as_string() != "asha" || had_nothing_) return;
  const Result<Asha::State> state = from_json<Asha::State>(scheduler.at("state"), "ASHA");
  for (const Asha::Rung& rung : state->brackets.front().rungs) {
    const std::string there = "trials at iteration " + std::to_string(static_cast<int>(rung.milestone));
    for (const Asha::Record& record : rung.records) {
      const std::string& reason = controller_.trials().at(static_cast<std::size_t>(record.trial)).reason;
      require(!record.promoted || !reason.ends_with(there) || reason.find("not among the best") == std::string::npos,
              "who is promoted goes on", "trial " + std::to_string(record.trial) + " does not");
    }
  }
}

/// The trials of a bracket of HyperBand go on together, and none waits that need not.
void ExperimentWorld::check_brackets() const {
  const Json scheduler = controller_.scheduler().to_json();
  if (scheduler.at("kind").as_string() != "hyperband" || stopping_ || controller_.finished()) return;
  const HyperBandSpec spec = from_json<HyperBandSpec>(scheduler.at("spec"), "HyperBand").value();
  const HyperBand::State state = from_json<HyperBand::State>(scheduler.at("state"), "HyperBand").value();
  for (const HyperBand::Bracket& bracket : state.brackets) {
    require(std::cmp_less_equal(bracket.members.size(), bracket.room), halved, "it has too many trials");
    bool all_there = !bracket.members.empty();
    for (const HyperBand::Member& member : bracket.members) {
      const auto& trial = controller_.trials().at(static_cast<std::size_t>(member.trial));
      const std::string name = "trial " + std::to_string(member.trial);
      require(!is_over(trial.state), halved, name + " has ended and is counted");
      const bool is_there = member.time >= bracket.until;
      all_there = all_there && is_there;
      const bool waits = trial.state == TrialState::paused && trial.reason.starts_with("HyperBand: it waits");
      require(!waits || is_there, halved, name + " waits, and the others are there");
    }
    const bool is_last = bracket.halvings_left == 0 && !spec.stop_last_trials;
    require(!all_there || is_last || spec.bohb, halved, "it is not");
  }
}

}  // namespace headway::control::tune::sim
