#include "driver/tune/experiment.hpp"

#include "core/fault_point.hpp"
#include "core/location.hpp"
#include "driver/found_run.hpp"
#include "driver/runtime.hpp"
#include "driver/unix_time.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"
#include "wire/spawn.hpp"

#include <algorithm>
#include <iterator>
#include <malloc.h>

/// What the front end asks of an experiment, and how events go through the journal.
namespace headway::driver {

namespace asio = boost::asio;
namespace tune = control::tune;
using std::chrono::steady_clock;

namespace {

/// What a new trial may be called.
Result<void> check_folder(const std::string& folder) {
  const bool is_name = !folder.empty() && folder != "." && folder != ".." && folder.find('/') == std::string::npos;
  if (is_name && folder != experiment_journal_name) return {};
  return Error{ErrorKind::invalid_argument, "folder is \"" + folder + "\"; allowed: the name of a folder"};
}

/// The ends of runs that a driver had recorded before it died, and not told the experiment. While a
/// trial is running, its run's journal is of its last start; one that was stopped was so by a
/// decision, which the experiment's journal has.
std::vector<tune::FoundEnd> found_ends(const std::string& location, const tune::TuneController& controller) {
  std::vector<tune::FoundEnd> ends;
  for (std::size_t i = 0; i < controller.trials().size(); ++i) {
    const tune::Trial& trial = controller.trials()[i];
    if (trial.state != tune::TrialState::running) continue;
    const Result<control::Journal> journal = read_journal(join_location(location, trial.folder));
    if (!journal || journal->stop_reason) continue;
    const bool errored = journal->state == "errored";
    if (!errored && !control::is_complete(*journal)) continue;
    ends.push_back({static_cast<std::int64_t>(i), errored ? "errored" : "finished",
                    errored ? control::unfinished_reason(*journal) : ""});
  }
  return ends;
}

const std::string& trials_of(const tune::ExperimentSpec& spec) {
  return spec.trials_location.empty() ? spec.path : spec.trials_location;
}

/// Whoever reads the journal later must find what it says of these.
bool is_lasting(const tune::TuneEvent& event) {
  return std::holds_alternative<tune::DriverBegan>(event) || std::holds_alternative<tune::TrialGone>(event) ||
         std::holds_alternative<tune::SearchOver>(event);
}

/// Whether the front end hears of it, which may act on it. The order of these is kept.
bool is_word(const tune::TuneCommand& command) {
  if (const auto* end = std::get_if<tune::TellEnd>(&command)) return end->state != "paused";
  return std::holds_alternative<tune::AskSuggestions>(command) || std::holds_alternative<tune::AskTrial>(command) ||
         std::holds_alternative<tune::AskConfig>(command) || std::holds_alternative<tune::FinishExperiment>(command);
}

}  // namespace

Result<std::shared_ptr<Experiment>> Experiment::open(Runtime& runtime, tune::ExperimentSpec spec, Owner owner) {
  if (auto valid = tune::validate(spec); !valid) return valid.error();
  if (auto made = storage::make_directories(spec.path); !made) return made.error();
  Result<RunLock> lock = RunLock::take(spec.path, std::move(owner));
  if (!lock) return lock.error();
  if (auto probed = storage::probe(spec.path); !probed) return probed.error();
  Result<FoundExperiment> found = find_experiment(spec.path, true);
  if (!found && found.error().kind != ErrorKind::not_found) return found.error();
  FoundExperiment known = found ? std::move(*found) : FoundExperiment{};
  malloc_trim(0);  // Reading has taken many times what is left of it.
  Result<ExperimentJournal> journal = ExperimentJournal::open(spec.path, known.whole_bytes);
  if (!journal) return journal.error();
  return std::shared_ptr<Experiment>(
      new Experiment(runtime, std::move(spec), std::move(known), std::move(*lock), std::move(*journal)));
}

Experiment::Experiment(Runtime& runtime, tune::ExperimentSpec spec, FoundExperiment found, RunLock lock,
                       ExperimentJournal journal)
    : runtime_(&runtime),
      loop_(runtime.loop()),
      spec_(std::move(spec)),
      controller_(std::move(found.controller)),
      timer_(loop_),
      found_ends_(found_ends(trials_of(spec_), controller_)),
      base_(found.at),
      storage_(asio::make_strand(runtime.storage_threads().get_executor())),
      disk_(asio::make_strand(runtime.storage_threads().get_executor())),
      lock_(std::move(lock)),
      journal_(std::make_shared<ExperimentJournal>(std::move(journal))) {
  for (const tune::Trial& trial : controller_.trials()) {
    numbers_.emplace(trial.trial_id, static_cast<std::int64_t>(numbers_.size()));
  }
}

std::string Experiment::location_of(const tune::Trial& trial) const {
  return join_location(trials_of(spec_), trial.folder);
}

std::vector<ExperimentEvent> Experiment::take_events() {
  bool was_full = false;
  std::vector<ExperimentEvent> events = front_->take(was_full);
  if (was_full) {
    later([](Experiment& self) {
      for (const std::shared_ptr<Run>& run : std::exchange(self.held_, {})) run->report_heard();
    });
  }
  return events;
}

Result<void> Experiment::suggest(const std::string& trial_id, const std::string& config, const std::string& folder,
                                 const std::optional<std::string>& replaces, const std::optional<std::string>& tag) {
  if (auto fits = check_folder(folder); !fits) return fits;
  if (const auto parsed = parse_json(config, "config"); !parsed) {
    return Error{ErrorKind::invalid_argument, parsed.error().message};
  }
  const std::lock_guard lock(mutex_);
  tune::TrialSuggested suggested{trial_id, config, folder};
  suggested.tag = tag;
  if (replaces) {
    const auto replaced = numbers_.find(*replaces);
    if (replaced == numbers_.end()) {
      return Error{ErrorKind::invalid_argument,
                   "replaces is \"" + *replaces + "\"; allowed: the trial_id of an earlier trial of the experiment"};
    }
    suggested.replaces = replaced->second;
  }
  if (trial_id.empty() || !numbers_.emplace(trial_id, static_cast<std::int64_t>(numbers_.size())).second) {
    return Error{ErrorKind::invalid_argument,
                 "trial_id is \"" + trial_id + "\"; allowed: any that no other trial of the experiment has"};
  }
  // Under the lock: the loop hears of trials in the order of their numbers.
  later([suggested = std::move(suggested)](Experiment& self) { self.handle(suggested); });
  return {};
}

void Experiment::no_suggestion() {
  later([](Experiment& self) { self.handle(tune::NothingSuggested{}); });
}

void Experiment::search_over() {
  later([](Experiment& self) { self.handle(tune::SearchOver{}); });
}

Result<void> Experiment::start_trial(const std::string& trial_id, int start, RunStart run, bool hooks) {
  // Each report waits for its verdict.
  run.spec.callback_lag_max = 0;
  run.durable_files = false;
  run.spec.returns_slots_early = !tune::chooses_among_trials(spec_);
  run.starts_early = start == 1;
  run.held = true;  // Until the loop has heard of it, and knows whether there is a place.
  run.woken = [weak = weak_from_this(), trial_id, start] {
    if (const auto self = weak.lock()) self->later([=](Experiment& here) { here.drain(trial_id, start); });
  };
  ++attaching_;
  run.waits_for_slots = [weak = weak_from_this(), trial_id, start](bool waits) {
    const auto self = weak.lock();
    Slot* slot = self ? self->slot_of(trial_id, start) : nullptr;
    if (slot != nullptr) slot->waits_for_slots = waits;
  };
  run.slots_returned = [weak = weak_from_this(), trial_id, start] {
    const auto self = weak.lock();
    if (self && self->slot_of(trial_id, start) != nullptr) self->handle(tune::TrialReturned{self->number_of(trial_id)});
  };
  const Result<std::shared_ptr<Run>> started = runtime_->start_run(std::move(run));
  if (!started) {
    asio::post(loop_, [self = shared_from_this()] {
      --self->attaching_;
      self->see_off();
    });
    return started.error();
  }
  {
    const std::lock_guard lock(mutex_);
    runs_[trial_id] = *started;
  }
  asio::post(loop_, [self = shared_from_this(), trial_id, start, run = *started, hooks] {
    self->attach(trial_id, start, run, hooks);
  });
  return {};
}

void Experiment::refuse_trial(const std::string& trial_id, int start, const std::string& message) {
  later([=](Experiment& self) {
    const Slot* slot = self.slot_of(trial_id, start);
    if (slot != nullptr && !slot->run) self.handle(tune::TrialGone{self.number_of(trial_id), "errored", message});
  });
}

void Experiment::decide(const std::string& trial_id, std::int64_t number, tune::Verdict verdict,
                        const std::string& reason) {
  later([=](Experiment& self) { self.handle(tune::FrontDecided{self.number_of(trial_id), number, verdict, reason}); });
}

void Experiment::stop_trial(const std::string& trial_id, const std::string& reason) {
  later([=](Experiment& self) { self.handle(tune::TrialStopAsked{self.number_of(trial_id), reason}); });
}

void Experiment::stop(const std::string& reason) {
  later([=](Experiment& self) { self.handle(tune::ExperimentStopAsked{reason}); });
}

Result<std::shared_ptr<Run>> Experiment::run_of(const std::string& trial_id) {
  const std::lock_guard lock(mutex_);
  const auto run = runs_.find(trial_id);
  if (run != runs_.end()) return run->second;
  return Error{ErrorKind::invalid_argument, "trial_id is \"" + trial_id + "\"; allowed: that of a trial with a run"};
}

std::int64_t Experiment::number_of(const std::string& trial_id) {
  const std::lock_guard lock(mutex_);
  const auto number = numbers_.find(trial_id);
  return number == numbers_.end() ? -1 : number->second;
}

Experiment::Slot* Experiment::slot_of(const std::string& trial_id, int start) {
  const auto slot = slots_.find(number_of(trial_id));
  return slot != slots_.end() && slot->second.start == start ? &slot->second : nullptr;
}

void Experiment::begin(std::int64_t id) {
  id_ = id;
  began_ = steady_clock::now();
  write_policies();
  tune::DriverBegan began{spec_, unix_seconds()};
  if (!found_ends_.empty()) began.found_ends = std::exchange(found_ends_, {});
  handle(began);
  for (std::size_t i = 0; i < controller_.trials().size(); ++i) controller_.forget_ended(static_cast<std::int64_t>(i));
}

/// The experiment's own: what earlier drivers have taken counts.
Time Experiment::now() const { return base_ + (steady_clock::now() - began_); }

void Experiment::handle(const tune::TuneEvent& event) {
  if (closed_ || failure_) return;
  try {
    throw_point("experiment.handle");
    const Time at = now();
    tune::TuneCommands commands = controller_.handle(at, event);
    lines_ += journal_line(at, event);
    durable_ = durable_ || is_lasting(event);
    std::ranges::move(commands, std::back_inserter(commands_));
  } catch (...) {
    return fail(wire::error_of(std::current_exception()).message);
  }
  if (!writing_) write();
}

void Experiment::write() {
  writing_ = true;
  asio::post(storage_, [self = shared_from_this(), lines = std::exchange(lines_, {}),
                        durable = std::exchange(durable_, false), commands = std::exchange(commands_, {})]() mutable {
    fault_point("experiment.append");
    const Result<void> outcome = self->journal_->append(lines);
    fault_point("experiment.appended");
    self->later([outcome, durable, commands = std::move(commands)](Experiment& here) mutable {
      here.written(outcome, std::move(commands), durable);
    });
    if (!outcome || !durable) return;
    asio::post(self->disk_, [self, journal = self->journal_] {
      const Result<void> brought = journal->sync();
      self->later([brought](Experiment& here) { here.synced(brought); });
    });
  });
}

void Experiment::written(const Result<void>& outcome, tune::TuneCommands commands, bool durable) {
  if (failure_) return;
  if (!outcome) return fail(outcome.error().message);
  writing_ = false;
  if (durable) told_.emplace_back();
  if (!told_.empty()) {
    const auto told = std::ranges::stable_partition(commands, [](const auto& each) { return !is_word(each); });
    told_.back().insert(told_.back().end(), told.begin(), told.end());
    commands.erase(told.begin(), told.end());
  }
  carry_out_all(commands);
  // What came after the end is of no experiment: its journal is closed.
  if (!closed_ && !failure_ && !lines_.empty() && !writing_) write();
}

void Experiment::synced(const Result<void>& outcome) {
  if (failure_) return;
  if (!outcome) return fail(outcome.error().message);
  const tune::TuneCommands commands = std::move(told_.front());
  told_.pop_front();
  carry_out_all(commands);
}

void Experiment::carry_out_all(const tune::TuneCommands& commands) {
  try {
    for (const tune::TuneCommand& command : commands) {
      std::visit([this](const auto& what) { carry_out(what); }, command);
    }
  } catch (...) {
    fail(wire::error_of(std::current_exception()).message);
  }
}

/// Nobody knows what the journal lacks: what it has can be restored.
void Experiment::fail(const std::string& why) {
  if (closed_ || failure_) return;
  failure_ = why;
  timer_.cancel();
  for (auto& [number, slot] : slots_) {
    if (slot.run && !slot.finished) slot.run->abort("its experiment failed: " + why);
  }
  end_failed();
}

/// Once no trial has processes.
void Experiment::end_failed() {
  if (closed_) return;
  const bool lives = std::ranges::any_of(slots_, [](const auto& at) { return at.second.run && !at.second.finished; });
  if (!lives) carry_out(tune::FinishExperiment{"failed", *failure_});
}

void Experiment::close() {
  if (closed_) return;
  finish(tune::FinishExperiment{"stopped", "the shutdown of Headway ended the experiment"});
}

}  // namespace headway::driver
