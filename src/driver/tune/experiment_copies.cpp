#include "core/location.hpp"
#include "driver/runtime.hpp"
#include "driver/tune/experiment.hpp"
#include "driver/tune/trial_clone.hpp"
#include "storage/disk/directory.hpp"

#include <fstream>

/// Trials that go on as copies of others: their configurations, their checkpoints, and PBT's files.
namespace headway::driver {

namespace asio = boost::asio;
namespace tune = control::tune;

namespace {

constexpr const char* policy_log_name = "pbt_global.txt";

std::string policy_name(const std::string& trial_id) { return "pbt_policy_" + trial_id + ".txt"; }

}  // namespace

void Experiment::configure(const std::string& trial_id, std::int64_t number, const std::string& config) {
  later([=](Experiment& self) { self.handle(tune::TrialConfigured{self.number_of(trial_id), number, config}); });
}

void Experiment::carry_out(const tune::AskConfig& command) {
  const auto id_of = [&](std::int64_t trial) {
    return controller_.trials().at(static_cast<std::size_t>(trial)).trial_id;
  };
  ConfigAsked asked{id_of(command.trial), id_of(command.donor), command.number, ""};
  if (const auto* history = controller_.scheduler().history()) {
    boost::json::array points;
    for (const tune::Pbt::Point& point : *history) {
      const Result<Json> config = parse_json(point.config, "a configuration");
      points.push_back(JsonObject{{"trial", id_of(point.trial)},
                                  {"time", point.time},
                                  {"score", point.score},
                                  {"config", config ? *config : Json()}});
    }
    asked.history_json = json_text(Json(std::move(points)));
  }
  front_->push(std::move(asked));
}

void Experiment::choose(const std::string& trial_id) {
  later([=](Experiment& self) { self.handle(tune::TrialChosen{self.number_of(trial_id)}); });
}

void Experiment::carry_out(const tune::AskTrial& command) {
  TrialChoiceAsked asked;
  for (const std::int64_t candidate : command.candidates) {
    asked.candidates.push_back(controller_.trials().at(static_cast<std::size_t>(candidate)).trial_id);
  }
  front_->push(std::move(asked));
}

void Experiment::carry_out(const tune::CloneCheckpoint& command) {
  const tune::Trial& trial = controller_.trials().at(static_cast<std::size_t>(command.trial));
  const tune::Trial& donor = controller_.trials().at(static_cast<std::size_t>(command.donor));
  const TrialClone order{location_of(trial), trial.reports, location_of(donor), command.checkpoint, command.number};
  asio::post(
      runtime_->storage_threads(), [self = shared_from_this(), order, trial = command.trial, id = trial.trial_id] {
        const Result<std::string> cloned = clone_trial(order);
        self->later([=](Experiment& here) {
          if (!cloned) {
            here.front_->push(RunWarning{"trial " + id + " continues as it was, because " + order.checkpoint + " in " +
                                         shown_location(order.donor_directory) +
                                         " could not be copied: " + cloned.error().message});
          }
          here.handle(tune::CheckpointCloned{trial, order.number, cloned ? std::optional(*cloned) : std::nullopt});
        });
      });
}

/// A trial that has no run yet hears of it when it has one.
void Experiment::carry_out(const tune::PinCheckpoints& command) {
  const auto slot = slots_.find(command.trial);
  if (slot != slots_.end() && slot->second.run) slot->second.run->pin(command.names);
}

void Experiment::carry_out(const tune::LogPolicy& command) {
  const std::string id = controller_.trials().at(static_cast<std::size_t>(command.trial)).trial_id;
  asio::post(storage_, [folder = path(), id, line = controller_.policy_log().at(command.line),
                        policy = controller_.policy(command.trial)] {
    std::ofstream(storage::join(folder, policy_log_name), std::ios::binary | std::ios::app) << line << '\n';
    replace_policy_file(storage::join(folder, policy_name(id)), policy);
  });
}

/// As the journal has them: an earlier driver may have died before it had written a line.
void Experiment::write_policies() {
  if (controller_.policy_log().empty()) return;
  std::map<std::string, std::vector<std::string>> files = {{policy_log_name, controller_.policy_log()}};
  for (const auto& [id, number] : numbers_) {
    std::vector<std::string> policy = controller_.policy(number);
    if (!policy.empty()) files.emplace(policy_name(id), std::move(policy));
  }
  asio::post(storage_, [folder = path(), files = std::move(files)] {
    for (const auto& [name, lines] : files) replace_policy_file(storage::join(folder, name), lines);
  });
}

}  // namespace headway::driver
