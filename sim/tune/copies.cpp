#include "sim/tune/experiment_world.hpp"

#include <algorithm>

/// Trials that go on as copies of others, and the laws of PBT.
namespace headway::control::tune::sim {

using namespace std::chrono_literals;
using ::headway::sim::require;

namespace {

constexpr const char* copied = "a copy is of a better trial that has not ended, from a checkpoint that is there";
constexpr const char* pinned = "a checkpoint is pinned while a copy may need it, and no longer";
constexpr const char* turns = "the trial that has trained least is next";

std::optional<Pbt::State> pbt_of(const TuneController& controller) {
  const Json scheduler = controller.scheduler().to_json();
  if (scheduler.at("kind").as_string() != "pbt") return std::nullopt;
  return from_json<Pbt::State>(scheduler.at("state"), "PBT").value();
}

const Pbt::Member* member_of(const Pbt::State& state, std::int64_t trial) {
  const auto found = std::ranges::find(state.members, trial, &Pbt::Member::trial);
  return found == state.members.end() ? nullptr : &*found;
}

}  // namespace

/// The newest is kept, and what is pinned.
void ExperimentWorld::retire(Trial& trial) {
  const std::string newest = trial.saved.back().name;
  std::erase_if(trial.saved, [&](const Saved& each) {
    return each.name != newest && std::ranges::find(trial.pinned, each.name) == trial.pinned.end();
  });
}

void ExperimentWorld::carry_out(const AskTrial& command) {
  require(!command.candidates.empty(), "the front end has a choice", "it has none");
  front(20ms, [this, command] {
    const int drawn = random_.below(static_cast<int>(command.candidates.size()) + 1);
    handle(TrialChosen{drawn == 0 ? -1 : command.candidates.at(static_cast<std::size_t>(drawn - 1))});
  });
}

void ExperimentWorld::carry_out(const AskConfig& command) {
  front(50ms, [this, command] {
    handle(TrialConfigured{command.trial, command.number, R"({"copy": )" + std::to_string(command.number) + "}"});
  });
}

/// What an earlier driver has finished counts, whether or not it has written so.
void ExperimentWorld::carry_out(const CloneCheckpoint& command) {
  Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  require(!trial.alive, copied, "a trial with processes gets another's checkpoint");
  const std::string name = "clone_" + std::to_string(command.number);
  cloning_[command.trial] = command.checkpoint;
  const auto clone = [this, command, name, &trial] {
    const Trial& donor = trials_.at(static_cast<std::size_t>(command.donor));
    if (std::ranges::find(trial.saved, name, &Saved::name) != trial.saved.end()) return;
    const auto found = std::ranges::find(donor.saved, command.checkpoint, &Saved::name);
    require(found != donor.saved.end(), copied,
            "trial " + std::to_string(command.donor) + " has no " + command.checkpoint);
    trial.saved.push_back({name, found->step});
  };
  const bool is_early = random_.one_in(2);
  const bool fails = !is_early && random_.one_in(10);
  if (is_early) clone();
  after(0ms, 100ms, [this, command, name, clone, fails] {
    if (!fails) clone();
    cloning_.erase(command.trial);
    handle(CheckpointCloned{command.trial, command.number, fails ? std::nullopt : std::optional(name)});
  });
}

void ExperimentWorld::carry_out(const PinCheckpoints& command) {
  Trial& trial = trials_.at(static_cast<std::size_t>(command.trial));
  if (!trial.alive) return;
  trial.pinned = command.names;
  if (!trial.saved.empty()) retire(trial);
}

void ExperimentWorld::carry_out(const LogPolicy& command) {
  require(!controller_.policy(command.trial).empty(), copied, "a copy has no past");
}

void ExperimentWorld::check_copies(const TuneEvent& event, const TuneCommands& commands) {
  const std::optional<Pbt::State> state = pbt_of(controller_);
  for (const TuneCommand& command : commands) {
    // One that an earlier driver has begun may need no configuration any more.
    if (const auto* clone = std::get_if<CloneCheckpoint>(&command)) {
      copies_[clone->trial] = {clone->trial, clone->donor, clone->number};
    }
    const auto* ask = std::get_if<AskConfig>(&command);
    if (ask == nullptr) continue;
    copies_[ask->trial] = *ask;
    if (!state || std::holds_alternative<DriverBegan>(event)) continue;
    const auto& donor = controller_.trials().at(static_cast<std::size_t>(ask->donor));
    require(ask->donor != ask->trial && !is_over(donor.state), copied, "it is of a trial that has ended");
    const Pbt::Member* better = member_of(*state, ask->donor);
    const Pbt::Member* worse = member_of(*state, ask->trial);
    require(better != nullptr && worse != nullptr && better->score >= worse->score, copied, "it is of a worse one");
  }
  const auto* cloned = std::get_if<CheckpointCloned>(&event);
  std::erase_if(copies_, [&](const auto& each) {
    if (cloned != nullptr && cloned->number == each.second.number) return true;
    const TrialState now = controller_.trials().at(static_cast<std::size_t>(each.first)).state;
    return is_over(now) || now == TrialState::waiting || now == TrialState::starting;
  });
}

/// Of those that wait none has trained less than one that starts.
void ExperimentWorld::check_turns(const TuneCommands& commands) const {
  const std::optional<Pbt::State> state = pbt_of(controller_);
  if (!state) return;
  for (const TuneCommand& command : commands) {
    const auto* start = std::get_if<StartTrial>(&command);
    if (start == nullptr) continue;
    const Pbt::Member* started = member_of(*state, start->trial);
    require(started != nullptr, turns, "it starts, and is not of the population");
    for (const Pbt::Member& member : state->members) {
      const auto& trial = controller_.trials().at(static_cast<std::size_t>(member.trial));
      const bool waits = trial.state == TrialState::waiting && !trial.left;
      require(!waits || member.trained >= started->trained, turns,
              "trial " + std::to_string(start->trial) + " starts before trial " + std::to_string(member.trial));
    }
  }
}

/// Once all that was commanded is done.
void ExperimentWorld::check_pins() const {
  const std::optional<Pbt::State> state = pbt_of(controller_);
  if (!state || finish_) return;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const Trial& trial = trials_[i];
    if (!trial.alive) continue;
    const auto number = static_cast<std::int64_t>(i);
    const Pbt::Member* member = member_of(*state, number);
    auto wanted = static_cast<std::size_t>(
        std::ranges::count_if(copies_, [&](const auto& each) { return each.second.donor == number; }));
    const auto has = [&](const std::string& name) {
      return std::ranges::find(trial.pinned, name) != trial.pinned.end();
    };
    if (member != nullptr && member->checkpoint) {
      ++wanted;
      require(has(*member->checkpoint), pinned, "trial " + std::to_string(i) + " may delete one");
    }
    for (const auto& [copy, checkpoint] : cloning_) {
      require(!copies_.contains(copy) || copies_.at(copy).donor != number || has(checkpoint), pinned,
              "trial " + std::to_string(i) + " may delete one that is being cloned");
    }
    require(trial.pinned.size() <= wanted, pinned, "trial " + std::to_string(i) + " keeps one for nobody");
  }
}

}  // namespace headway::control::tune::sim
