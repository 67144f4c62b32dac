#include "control/tune/tune_controller.hpp"

#include <algorithm>

/// Trials that go on as copies of others.
namespace headway::control::tune {

/// The configuration and the end of the trial's processes are waited for at once.
void TuneController::begin_copy(SideEffects::Copy copy) {
  const std::int64_t number = copy.trial;
  const std::int64_t donor = copy.donor;
  promised_.erase(number);  // It does so once it is a copy.
  copying_.insert_or_assign(number,
                            Copying{std::move(copy), ++copies_, trials_[static_cast<std::size_t>(donor)].config});
  // After the answer to the report: the front end knows it then.
  questions_of_copies_.push_back({number, donor, copies_});
}

void TuneController::on(const TrialConfigured& event) {
  const auto found = copying_.find(event.trial);
  if (found == copying_.end() || found->second.number != event.number || found->second.config) return;
  found->second.config = event.config;
  go_on_with_copy(event.trial);
}

void TuneController::go_on_with_copy(std::int64_t number) {
  const auto found = copying_.find(number);
  if (found == copying_.end() || !paused_.contains(number)) return;
  Copying& copying = found->second;
  if (!copying.config || copying.clones) return;
  if (copying.copy.donor == number) return finish_copy(number, trials_[static_cast<std::size_t>(number)].checkpoint);
  copying.clones = true;
  commands_.emplace_back(CloneCheckpoint{number, copying.copy.donor, copying.copy.checkpoint, copying.number});
}

void TuneController::on(const CheckpointCloned& event) {
  const auto found = copying_.find(event.trial);
  if (found == copying_.end() || found->second.number != event.number || !found->second.clones) return;
  if (event.checkpoint) return finish_copy(event.trial, event.checkpoint);
  // It goes on as it was.
  const Copying failed = copying_.extract(found).mapped();
  resume(event.trial);
  if (failed.ends) end(event.trial, TrialState::terminated, *failed.ends);
}

void TuneController::finish_copy(std::int64_t number, const std::optional<std::string>& checkpoint) {
  const Copying copied = copying_.extract(number).mapped();
  Trial& trial = trials_[static_cast<std::size_t>(number)];
  if (copied.copy.donor != number) log_policy(copied);
  trial.config = *copied.config;
  scheduler_.configured(number, copied.copy.score, trial.config);
  trial.checkpoint = checkpoint;
  trial.copied = true;
  if (scheduler_.may_run(number)) resume(number);
  if (copied.ends) end(number, TrialState::terminated, *copied.ends);
}

/// As Ray writes it: the tags and iterations of the trial and of its donor, the donor's
/// configuration, and the new one. What the donor has come by is the trial's past from here on.
void TuneController::log_policy(const Copying& copied) {
  if (!scheduler_.logs_copies()) return;
  const Trial& trial = trials_[static_cast<std::size_t>(copied.copy.trial)];
  const Trial& donor = trials_[static_cast<std::size_t>(copied.copy.donor)];
  const auto iteration = trial.last.find("training_iteration");
  const auto text = [](const std::string& words) { return json_text(Json(boost::json::string(words))); };
  const auto whole = [](double number) { return std::to_string(static_cast<std::int64_t>(number)); };
  policy_log_.push_back("[" + text(trial.tag) + ", " + text(donor.tag) + ", " +
                        whole(iteration == trial.last.end() ? 0 : iteration->second) + ", " +
                        whole(copied.copy.iteration) + ", " + copied.donor_config + ", " + *copied.config + "]");
  std::vector<std::size_t>& own = policy_of_[copied.copy.trial];
  if (const auto past = policy_of_.find(copied.copy.donor); past != policy_of_.end()) own = past->second;
  own.push_back(policy_log_.size() - 1);
  commands_.emplace_back(LogPolicy{copied.copy.trial, policy_log_.size() - 1});
}

std::vector<std::string> TuneController::policy(std::int64_t trial) const {
  std::vector<std::string> policy;
  const auto found = policy_of_.find(trial);
  if (found == policy_of_.end()) return policy;
  for (const std::size_t line : found->second) policy.push_back(policy_log_[line]);
  return policy;
}

/// What an earlier driver had begun is asked for again.
void TuneController::take_up_copies() {
  std::erase_if(copying_, [&](const auto& each) { return !paused_.contains(each.first); });
  for (auto& [number, copying] : copying_) {
    copying.clones = false;
    copying.ends.reset();
    if (!copying.config) commands_.emplace_back(AskConfig{number, copying.copy.donor, copying.number});
  }
  for (const auto& [number, state] : std::map(copying_)) go_on_with_copy(number);
}

/// Its folder is nobody else's first.
void TuneController::end_paused(std::int64_t number, const std::string& reason) {
  const auto found = copying_.find(number);
  if (found != copying_.end() && found->second.clones) {
    found->second.ends = reason;
  } else {
    end(number, TrialState::terminated, reason);
  }
}

std::vector<std::string> TuneController::pinned(std::int64_t trial) const {
  const auto found = pins_.find(trial);
  return found == pins_.end() ? std::vector<std::string>() : found->second;
}

/// Before the answer to a report: its trial's next checkpoint comes after that.
void TuneController::tell_pins() {
  std::map<std::int64_t, std::vector<std::string>> pins = scheduler_.pinned();
  for (const auto& [number, copying] : copying_) {
    if (copying.copy.donor == number) continue;
    std::vector<std::string>& of_donor = pins[copying.copy.donor];
    if (std::ranges::find(of_donor, copying.copy.checkpoint) == of_donor.end()) {
      of_donor.push_back(copying.copy.checkpoint);
    }
  }
  TuneCommands changed;
  for (const auto& [number, here] : live_) {
    const auto names = pins.find(number);
    const std::vector<std::string> now = names == pins.end() ? std::vector<std::string>() : names->second;
    if (now != pinned(number)) changed.emplace_back(PinCheckpoints{number, now});
  }
  pins_ = std::move(pins);
  commands_.insert(commands_.begin(), changed.begin(), changed.end());
}

}  // namespace headway::control::tune
