#include "driver/tune/trial_clone.hpp"

#include "control/checkpoint_book.hpp"
#include "core/location.hpp"
#include "driver/found_run.hpp"
#include "driver/unix_time.hpp"
#include "storage/checkpoint/checkpoint_clone.hpp"
#include "storage/disk/directory.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace headway::driver {
namespace {

/// The donor's manifest as one of the trial's: behind all that the trial has.
Manifest to_own(Manifest manifest, const TrialClone& order, const control::Journal& journal,
                const std::vector<Manifest>& own) {
  ClonedFrom from{name_of(order.donor_directory), order.checkpoint, order.number};
  if (manifest.report) {
    from.iteration = manifest.report->iteration;
    from.time_total_s = manifest.report->time_total_s;
  } else if (manifest.cloned) {
    from.iteration = manifest.cloned->iteration;
    from.time_total_s = manifest.cloned->time_total_s;
  }
  std::int64_t reports = std::max(order.reports, journal.reports);
  std::int64_t epoch = journal.owner_epoch;
  int attempt = journal.attempt;
  for (const Manifest& each : own) {
    reports = std::max(reports, each.index + 1);
    epoch = std::max(epoch, each.owner_epoch);
    attempt = std::max(attempt, each.attempt);
  }
  manifest.index = reports - 1;
  manifest.owner_epoch = epoch + 1;
  manifest.attempt = attempt;
  manifest.created_unix_s = unix_seconds();
  manifest.report.reset();
  manifest.validation.reset();
  manifest.cloned = std::move(from);
  return manifest;
}

/// Those that a new checkpoint must not have. On remote storage a checkpoint that was begun and not
/// committed was swept by the run's last driver, or is by its next.
Result<std::vector<std::string>> names_in(const std::string& directory, const std::vector<Manifest>& own) {
  if (!is_remote(directory)) return storage::read_directory(directory);
  std::vector<std::string> names;
  for (const Manifest& manifest : own) names.push_back(manifest.checkpoint);
  return names;
}

}  // namespace

Result<std::string> clone_trial(const TrialClone& order) {
  const Result<std::vector<Manifest>> own = storage::list_checkpoints(order.directory);
  if (!own) return own.error();
  for (const Manifest& each : *own) {
    if (each.cloned && each.cloned->number == order.number) return each.checkpoint;
  }
  const Result<control::Journal> journal = read_journal(order.directory);
  if (!journal) return journal.error();
  const Result<std::vector<std::string>> names = names_in(order.directory, *own);
  if (!names) return names.error();
  const std::string source = join_location(order.donor_directory, order.checkpoint);
  Result<Manifest> manifest = storage::read_manifest(source);
  if (!manifest) return manifest.error();
  control::CheckpointBook book{CheckpointConfig{}};
  (void)book.take_up({}, {}, journal->names_given, *names);
  const std::string name = book.next_name();
  Result<void> cloned = storage::clone_checkpoint(source, join_location(order.directory, name),
                                                  to_own(std::move(*manifest), order, *journal, *own));
  if (!cloned) return cloned.error();
  return name;
}

void replace_policy_file(const std::string& path, const std::vector<std::string>& lines) {
  const std::string fresh = path + ".tmp";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  for (const std::string& line : lines) file << line << '\n';
  file.close();
  if (file) (void)std::rename(fresh.c_str(), path.c_str());
}

}  // namespace headway::driver
