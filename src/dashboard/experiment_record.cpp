#include "dashboard/experiment_record.hpp"

#include "core/location.hpp"
#include "dashboard/masking.hpp"
#include "driver/flat_metrics.hpp"
#include "driver/tune/experiment_journal.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <cmath>
#include <sys/stat.h>

namespace headway::dashboard {
namespace {

namespace tune = control::tune;

/// Eight digits and a blank stand before what a line says.
constexpr std::size_t checksum_width = 9;
constexpr std::size_t curve_max = 4096;
constexpr std::size_t checkpoints_max = 8;
constexpr std::size_t takeovers_max = 1000;
constexpr std::size_t spells_max = 64;

/// Whether the scheduler lets trials take over.
bool copies_trials(const tune::ExperimentSpec& spec) {
  const Json* kind = spec.scheduler.if_contains("kind");
  return kind != nullptr && kind->is_string() && kind->get_string().starts_with("pbt");
}

JsonObject flat_config(const std::string& text) {
  JsonObject flat;
  const Result<Json> config = parse_json(text, "a trial's configuration");
  if (!config || !config->is_object()) return flat;
  for (const auto& [name, value] : driver::flat_metrics(config->get_object())) flat[name] = *value;
  Json masked = std::move(flat);
  mask_secrets(masked);
  return std::move(masked.as_object());
}

std::string trials_words(const TrialCounts& counts) {
  return std::to_string(counts.ended) + " of " + std::to_string(counts.total) + " trials ended" +
         (counts.failed > 0 ? ", " + std::to_string(counts.failed) + " failed" : "");
}

}  // namespace

void ExperimentRecord::add(std::string_view line) {
  if (line.size() <= checksum_width) return;
  const Result<tune::LoggedEvent> logged = tune::from_line(line.substr(checksum_width));
  if (!logged) return;
  if (const auto* began = std::get_if<tune::DriverBegan>(&logged->event)) {
    // The trials of the driver before ended with it; its last event is the last that is known.
    for (TrialRecord& record : records_) end_spell(record);
    base_ = logged->at;
    base_unix_s_ = began->unix_s;
    if (!started_unix_s_) started_unix_s_ = began->unix_s;
  }
  last_unix_s_ = unix_s(logged->at);
  const tune::TuneCommands commands = controller_.handle(logged->at, logged->event);
  while (records_.size() < trials().size()) {
    TrialRecord record;
    record.config = flat_config(trials()[records_.size()].config);
    records_.push_back(std::move(record));
  }
  note_copies(commands);
  note_end_of_copy(logged->event);
  const auto record_of = [&](std::int64_t trial) -> TrialRecord* {
    const auto number = static_cast<std::size_t>(trial);
    return trial >= 0 && number < records_.size() ? &records_[number] : nullptr;
  };
  note_spell(logged->event);
  if (const auto* reported = std::get_if<tune::TrialReported>(&logged->event)) {
    TrialRecord* record = record_of(reported->trial);
    const auto& metric = controller_.spec().metric;
    const auto value = metric ? reported->numbers.find(*metric) : reported->numbers.end();
    if (record == nullptr || value == reported->numbers.end()) return;
    if (record->curve.size() == curve_max) {
      // Every second point stays.
      for (std::size_t place = 0; place < curve_max / 2; ++place) record->curve[place] = record->curve[2 * place];
      record->curve.resize(curve_max / 2);
    }
    record->curve.emplace_back(reported->number, value->second);
  }
}

void ExperimentRecord::end_spell(TrialRecord& record) const {
  if (!record.spells.empty() && !record.spells.back().end_unix_s) record.spells.back().end_unix_s = last_unix_s_;
}

void ExperimentRecord::note_spell(const tune::TuneEvent& event) {
  const auto* ready = std::get_if<tune::TrialReady>(&event);
  const auto* gone = std::get_if<tune::TrialGone>(&event);
  const std::int64_t number = ready != nullptr ? ready->trial : gone != nullptr ? gone->trial : -1;
  if (number < 0 || static_cast<std::size_t>(number) >= records_.size()) return;
  TrialRecord& record = records_[static_cast<std::size_t>(number)];
  end_spell(record);
  if (gone != nullptr) record.ended_unix_s = last_unix_s_;
  if (ready == nullptr) return;
  if (!record.started_unix_s) record.started_unix_s = last_unix_s_;
  if (record.spells.size() == spells_max) record.spells.erase(record.spells.begin());
  record.spells.push_back({last_unix_s_, {}});
}

double ExperimentRecord::iteration_of(std::int64_t trial) const {
  const tune::Trial& found = trials()[static_cast<std::size_t>(trial)];
  const auto iteration = found.last.find("training_iteration");
  return iteration == found.last.end() ? static_cast<double>(found.reports) : iteration->second;
}

void ExperimentRecord::note_copies(const tune::TuneCommands& commands) {
  for (const tune::TuneCommand& command : commands) {
    if (const auto* asks = std::get_if<tune::AskConfig>(&command)) {
      Takeover takeover{asks->trial, asks->donor, iteration_of(asks->trial), std::nullopt, {}, {}};
      if (asks->trial == asks->donor) takeover.from_iteration = takeover.iteration;
      begun_.insert_or_assign(asks->trial, Begun{std::move(takeover), std::nullopt});
    } else if (const auto* clones = std::get_if<tune::CloneCheckpoint>(&command)) {
      const auto found = begun_.find(clones->trial);
      if (found == begun_.end()) continue;
      for (const auto& [name, iteration] : records_[static_cast<std::size_t>(clones->donor)].checkpoints) {
        if (name == clones->checkpoint) found->second.takeover.from_iteration = iteration;
      }
    }
  }
}

/// A copy is whole once the trial has the new configuration.
void ExperimentRecord::note_end_of_copy(const tune::TuneEvent& event) {
  if (const auto* reported = std::get_if<tune::TrialReported>(&event)) {
    if (!copies_trials(controller_.spec()) || !reported->checkpoint) return;
    if (reported->trial < 0 || static_cast<std::size_t>(reported->trial) >= records_.size()) return;
    auto& checkpoints = records_[static_cast<std::size_t>(reported->trial)].checkpoints;
    checkpoints.emplace_back(*reported->checkpoint, iteration_of(reported->trial));
    if (checkpoints.size() > checkpoints_max) checkpoints.erase(checkpoints.begin());
    return;
  }
  std::optional<std::int64_t> trial;
  if (const auto* configured = std::get_if<tune::TrialConfigured>(&event)) trial = configured->trial;
  if (const auto* gone = std::get_if<tune::TrialGone>(&event)) trial = gone->trial;
  if (const auto* cloned = std::get_if<tune::CheckpointCloned>(&event)) trial = cloned->trial;
  const auto found = trial ? begun_.find(*trial) : begun_.end();
  if (found == begun_.end()) return;
  if (const auto* configured = std::get_if<tune::TrialConfigured>(&event)) found->second.config = configured->config;
  if (found->second.config != trials()[static_cast<std::size_t>(*trial)].config) return;
  Takeover takeover = begun_.extract(found).mapped().takeover;
  TrialRecord& record = records_[static_cast<std::size_t>(*trial)];
  takeover.before = std::move(record.config);
  record.config = flat_config(trials()[static_cast<std::size_t>(*trial)].config);
  takeover.after = record.config;
  takeovers_.push_back(std::move(takeover));
  if (takeovers_.size() > takeovers_max) takeovers_.erase(takeovers_.begin());
}

std::optional<double> ExperimentRecord::value_of(std::size_t trial) const {
  const auto& metric = controller_.spec().metric;
  if (!metric) return std::nullopt;
  const auto& last = trials()[trial].last;
  const auto found = last.find(*metric);
  if (found == last.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> ExperimentRecord::best() const {
  std::optional<std::size_t> best;
  for (std::size_t trial = 0; trial < trials().size(); ++trial) {
    const auto value = value_of(trial);
    if (!value) continue;
    if (!best || (minimizes() ? *value < *value_of(*best) : *value > *value_of(*best))) best = trial;
  }
  return best;
}

TrialCounts ExperimentRecord::counts() const {
  TrialCounts counts;
  for (const tune::Trial& trial : trials()) {
    ++counts.total;
    if (is_over(trial.state)) {
      ++counts.ended;
      if (trial.state == tune::TrialState::errored) ++counts.failed;
    } else if (trial.state == tune::TrialState::running) {
      ++counts.running;
    } else {
      ++counts.waiting;
    }
  }
  return counts;
}

namespace {

/// Of a trial's configuration the first few that differ from those of others.
JsonObject searched_in(const ExperimentRecord& record, std::size_t trial) {
  constexpr std::size_t shown_max = 6;
  constexpr std::size_t compared_max = 100;  // What is searched differs soon.
  const std::size_t count = std::min(record.trials().size(), compared_max);
  JsonObject searched;
  for (const auto& [name, value] : record.of(trial).config) {
    if (searched.size() == shown_max) break;
    for (std::size_t other = 0; other < count; ++other) {
      const Json* found = record.of(other).config.if_contains(name);
      if (found != nullptr && *found == value) continue;
      searched[name] = value;
      break;
    }
  }
  return searched;
}

}  // namespace

ExperimentSummary summary_of(const std::string& id, const std::string& folder, const ExperimentRecord& record,
                             bool at_work) {
  ExperimentSummary summary;
  const tune::ExperimentSpec& spec = record.controller().spec();
  summary.id = id;
  summary.name = name_of(folder);
  summary.path = shown_location(folder);
  summary.metric = spec.metric;
  summary.mode = record.minimizes() ? "min" : "max";
  const Json* kind = spec.scheduler.if_contains("kind");
  summary.scheduler = kind != nullptr && kind->is_string() ? std::string(kind->get_string()) : "fifo";
  summary.trials = record.counts();
  if (const auto best = record.best()) {
    const tune::Trial& trial = record.trials()[*best];
    summary.best = BestTrial{trial.trial_id, trial.folder, *record.value_of(*best), searched_in(record, *best)};
  }
  summary.started_unix_s = record.started_unix_s();
  if (summary.started_unix_s) summary.time_total_s = std::max(0.0, record.last_unix_s() - *summary.started_unix_s);
  const bool finished = record.controller().finished();
  summary.state = finished ? "finished" : at_work ? "running" : "unfinished";
  summary.verdict.words = summary.state + ": " + trials_words(summary.trials);
  summary.verdict.level = finished ? VerdictLevel::done : at_work ? VerdictLevel::good : VerdictLevel::wait;
  summary.verdict.since_s = finished ? std::optional(record.last_unix_s()) : summary.started_unix_s;
  return summary;
}

ExperimentFile::ExperimentFile(std::string folder)
    : folder_(std::move(folder)), journal_(join_location(folder_, driver::experiment_journal_name)) {}

void ExperimentFile::refresh() {
  (void)journal_.read([this] { record_ = std::make_unique<ExperimentRecord>(); },
                      [this](std::string_view line) { record_->add(line); });
}

bool has_experiment(const std::string& folder) {
  const std::string journal = join_location(folder, driver::experiment_journal_name);
  struct ::stat status{};
  return !is_remote(folder) && ::stat(journal.c_str(), &status) == 0;
}

}  // namespace headway::dashboard
