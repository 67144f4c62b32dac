#include "sim/storage.hpp"

#include "sim/violation.hpp"

#include <algorithm>

namespace headway::sim {

using namespace std::chrono_literals;

namespace {

const Error disk_error{ErrorKind::unavailable, "simulated: no space left on device"};

}  // namespace

void Storage::ask(std::function<void()> work) {
  busy_until_ = std::max(busy_until_, stage_->schedule.now()) + stage_->delay(Fault::slow_storage, 20ms);
  asked_.push_back(std::move(work));
  stage_->schedule.at(busy_until_, [this, driver = driver_] {
    if (driver != driver_) return;
    const std::function<void()> next = std::move(asked_.front());
    asked_.pop_front();
    next();
  });
}

/// A while after the deed: in between the driver can die.
void Storage::tell(control::Event event) {
  stage_->schedule.after(50us, [this, driver = driver_, event = std::move(event)] {
    if (driver == driver_) stage_->tell(event);
  });
}

void Storage::driver_died() {
  if (!asked_.empty() && stage_->random.one_in(2)) asked_.front()();
  asked_.clear();
  ++driver_;
  syncing_ = false;
  busy_until_ = stage_->schedule.now();
}

void Storage::driver_ended() {
  while (!asked_.empty()) {
    const std::function<void()> next = std::move(asked_.front());
    asked_.pop_front();
    next();
  }
  driver_died();
}

std::optional<Error> Storage::trouble() {
  if (!trouble_ && stage_->fault(Fault::overtaken)) {
    trouble_ = Error{ErrorKind::superseded, "simulated: another driver has taken this run over"};
  }
  return trouble_;
}

void Storage::prepare() {
  ask([this] {
    control::StoragePrepared prepared;
    if (stage_->fault(Fault::storage_refused)) {
      prepared.error = disk_error;
    } else if (!journal_ && !checkpoints().empty()) {
      prepared.error = Error{ErrorKind::already_exists, "the folder holds checkpoints and no run.json"};
    } else {
      prepared.found = found();
      began_anew_ = !prepared.found;
    }
    tell(prepared);
  });
}

std::vector<Manifest> Storage::checkpoints() const {
  std::vector<Manifest> manifests;
  for (const auto& [name, directory] : directories_) {
    if (directory.committed) manifests.push_back(directory.manifest);
  }
  std::sort(manifests.begin(), manifests.end(), is_older);
  return manifests;
}

std::optional<control::FoundRun> Storage::found() const {
  if (!journal_) return std::nullopt;
  control::FoundRun run{*journal_, checkpoints(), {}, {}};
  run.results.lines = static_cast<std::int64_t>(results_.size());
  if (!results_.empty()) {
    run.results.attempt = results_.back().attempt;
    run.results.index = results_.back().index;
    run.results.time_total_s = results_.back().time_total_s;
  }
  for (const auto& [name, directory] : directories_) run.names.push_back(name);
  return run;
}

void Storage::begin(const control::BeginCheckpoint& command) {
  ask([this, command] {
    control::CheckpointBegun begun{command.attempt, command.index, {}};
    const auto there = directories_.find(command.name);
    // Only a driver that found no journal does not know of what is there.
    require(there == directories_.end() || began_anew_ || scenario_->names != Scenario::Names::automatic,
            invariant::nothing_lost, [&] { return command.name + " is begun, and is there already"; });
    if (there != directories_.end() && !there->second.begun) {
      begun.error = Error{ErrorKind::already_exists, command.name + " is there already"};
    } else if (stage_->fault(Fault::begin_fails)) {
      begun.error = disk_error;
    } else {
      require(there == directories_.end() || there->second.writers.empty(), invariant::undisturbed_writers,
              [&] { return command.name + " is begun while a rank writes to it"; });
      directories_[command.name] = {};
      directories_[command.name].begun = true;
      removals_failed_.erase(command.name);
    }
    tell(begun);
  });
}

void Storage::commit(const control::CommitCheckpoint& command) {
  ask([this, command] {
    const std::string& name = command.manifest.checkpoint;
    control::CheckpointCommitted committed{command.index, {}};
    const auto there = directories_.find(name);
    const bool ours = command.source == CheckpointSource::files;
    const bool begun = there != directories_.end() && there->second.begun;
    if (ours != begun) {
      committed.error = Error{ErrorKind::invalid_argument, name + (ours ? " has not been begun" : " is being stored")};
    } else if (const auto error = trouble()) {
      committed.error = error;
    } else if (stage_->fault(Fault::commit_fails)) {
      committed.error = disk_error;
    } else {
      // What the user has placed nowhere is an empty checkpoint.
      Directory& directory = directories_[name];
      if (ours) check_whole(command.manifest, directory);
      directory.begun = false;
      directory.committed = true;
      directory.manifest = command.manifest;
      directory.deed = ++deeds_;
      directory.lied = stage_->fault(Fault::commit_lies);
      if (directory.lied) committed.error = disk_error;
    }
    tell(committed);
  });
}

/// A manifest names every file that the ranks offered, each stored to its end, by the lowest rank
/// that offered it.
void Storage::check_whole(const Manifest& manifest, const Directory& directory) const {
  require(directory.writers.empty(), invariant::whole_checkpoints,
          [&] { return manifest.checkpoint + " is committed while a rank writes to it"; });
  std::map<std::string, int> expected;
  const std::int64_t step = manifest.metrics.at("step").as_int64();
  for (int rank = manifest.world_size - 1; rank >= 0; --rank) {
    const auto offer = scenario_->offer(rank, step);
    if (!offer) continue;
    for (const FileRecord& file : offer->files) expected[file.name] = rank;
  }
  std::map<std::string, int> named;
  for (const FileRecord& file : manifest.files) {
    require(named.try_emplace(file.name, file.rank).second, invariant::whole_checkpoints,
            [&] { return manifest.checkpoint + " names " + file.name + " twice"; });
    require(directory.whole.contains({file.rank, file.name}), invariant::whole_checkpoints,
            [&] { return manifest.checkpoint + " names " + file.name + ", which is not stored to its end"; });
  }
  require(named == expected, invariant::whole_checkpoints,
          [&] { return manifest.checkpoint + " does not name the files that its ranks offered"; });
}

void Storage::discard(const control::DiscardCheckpoint& command) {
  ask([this, name = command.name] {
    const auto there = directories_.find(name);
    if (there == directories_.end() || !there->second.begun) return;
    require(there->second.writers.empty(), invariant::undisturbed_writers,
            [&] { return name + " is discarded while a rank writes to it"; });
    if (stage_->fault(Fault::discard_fails)) {
      removals_failed_.insert(name);
    } else {
      directories_.erase(there);
    }
  });
}

void Storage::remove(const control::DeleteCheckpoint& command) {
  ask([this, name = command.name] {
    const auto there = directories_.find(name);
    require(there == directories_.end() || there->second.writers.empty(), invariant::undisturbed_writers,
            [&] { return name + " is deleted while a rank writes to it"; });
    control::CheckpointDeleted deleted{name, {}};
    if (stage_->fault(Fault::delete_fails)) {
      removals_failed_.insert(name);
      deleted.error = disk_error;
    } else if (directories_.erase(name) == 0) {
      deleted.error = Error{ErrorKind::not_found, name + " is not there"};
    }
    tell(deleted);
  });
}

void Storage::append(const control::AppendResult& command) {
  ask([this, line = command.line] {
    if (!trouble_ && stage_->fault(Fault::folder_lost)) {
      trouble_ = Error{ErrorKind::not_found, "simulated: the run's folder was deleted"};
    }
    if (trouble_) {
      if (trouble_->kind == ErrorKind::not_found) tell(control::FolderLost{*trouble_});
    } else if (stage_->fault(Fault::append_fails)) {
      lines_failed_.insert({line.attempt, line.index});
    } else {
      results_.push_back(line);
    }
  });
}

void Storage::sweep() {
  ask([this] {
    if (stage_->fault(Fault::sweep_fails)) {
      for (const auto& [name, directory] : directories_) removals_failed_.insert(name);
      return;
    }
    std::erase_if(directories_, [](const auto& entry) {
      require(!entry.second.begun || entry.second.writers.empty(), invariant::undisturbed_writers,
              [&] { return entry.first + " is swept while a rank writes to it"; });
      return entry.second.begun;
    });
  });
}

void Storage::sync() {
  require(!std::exchange(syncing_, true), invariant::one_sync, "the run's files are synced twice at a time");
  ask([this] {
    syncing_ = false;
    if (const auto error = trouble()) return tell(control::FolderSynced{error});
    tell(control::FolderSynced{stage_->fault(Fault::sync_fails) ? std::optional(disk_error) : std::nullopt});
  });
}

void Storage::write_journal(const control::WriteJournal& command) {
  ask([this, snapshot = command.snapshot] {
    if (const auto error = trouble()) return tell(control::JournalWritten{error});
    if (stage_->fault(Fault::journal_fails)) return tell(control::JournalWritten{disk_error});
    journal_ = snapshot;
    journal_deed_ = ++deeds_;
    tell(control::JournalWritten{});
  });
}

bool Storage::open_for(int rank, const control::UploadFiles& order) {
  if (order.beside) {
    directories_[order.name].writers.insert(rank);
    return true;
  }
  const auto there = directories_.find(order.name);
  if (there == directories_.end() || !there->second.begun) return false;
  there->second.writers.insert(rank);
  return true;
}

void Storage::stored(int rank, const std::string& name, const std::vector<std::string>& files) {
  Directory& directory = directories_.at(name);
  for (const std::string& file : files) directory.whole.insert({rank, file});
}

void Storage::close_for(int rank, const std::string& name) {
  if (const auto there = directories_.find(name); there != directories_.end()) there->second.writers.erase(rank);
}

std::set<std::string> Storage::given_up() const {
  std::set<std::string> names;
  for (const std::string& name : journal_ ? journal_->to_delete : std::vector<std::string>()) {
    const auto there = directories_.find(name);
    if (there == directories_.end() || there->second.deed > journal_deed_) continue;
    // It is whole, and to a new driver it looks as if made after the journal.
    if (there->second.lied && control::follows(there->second.manifest, *journal_)) continue;
    names.insert(name);
  }
  return names;
}

bool Storage::has_line(int attempt, std::int64_t index) const {
  const auto is_it = [&](const ReportLine& line) { return line.attempt == attempt && line.index == index; };
  return std::any_of(results_.begin(), results_.end(), is_it);
}

bool Storage::committed(const std::string& name) const {
  const auto there = directories_.find(name);
  return there != directories_.end() && there->second.committed;
}

}  // namespace headway::sim
