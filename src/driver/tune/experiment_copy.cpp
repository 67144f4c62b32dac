#include "driver/tune/experiment_copy.hpp"

#include "core/location.hpp"
#include "driver/staging_root.hpp"
#include "driver/tune/experiment_journal.hpp"
#include "storage/disk/checksum.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/storage.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace headway::driver {
namespace {

using std::chrono::steady_clock;

constexpr auto pause_min = std::chrono::seconds(2);
/// Copying takes at most one part in so many of the time.
constexpr int share = 20;

/// The same for each driver of the experiment: 16 digits.
std::string short_hash(std::string_view text) {
  storage::Checksum checksum;
  checksum.add(std::as_bytes(std::span(text)));
  const std::string named = checksum.text();
  return named.substr(named.find(':') + 1);
}

/// None where there is no such file.
Result<std::optional<std::string>> if_there(Result<std::string> text) {
  if (text) return std::optional(std::move(*text));
  if (text.error().kind == ErrorKind::not_found) return std::optional<std::string>();
  return text.error();
}

}  // namespace

Result<std::unique_ptr<ExperimentCopy>> ExperimentCopy::fetch(std::string location) {
  if (auto probed = storage::probe(location); !probed) return probed.error();
  const StagingRoot root = StagingRoot::from_environment();
  if (auto prepared = root.prepare(); !prepared) return prepared.error();
  // A URL's query says how the storage is reached, and not what is there.
  const std::string place = location.substr(0, location.find('?'));
  const std::string folder = storage::join(root.path(), "experiments/" + name_of(location) + "-" + short_hash(place));
  const std::string journal = storage::join(folder, experiment_journal_name);
  const auto stored = if_there(storage::read_file(join_location(location, experiment_journal_name)));
  if (!stored) return stored.error();
  const auto here = if_there(storage::read_whole(journal));
  if (!here) return here.error();
  const bool is_further = *stored && *here && (*here)->starts_with(**stored);
  if (!is_further) {
    if (auto removed = storage::remove_directory(folder); !removed) return removed.error();
  }
  if (auto made = storage::make_directories(folder); !made) return made.error();
  if (*stored && !is_further) {
    if (auto written = storage::write_whole(journal, **stored); !written) return written.error();
  }
  return std::unique_ptr<ExperimentCopy>(new ExperimentCopy(std::move(location), folder));
}

ExperimentCopy::~ExperimentCopy() { stop(); }

void ExperimentCopy::start() {
  Result<std::thread> started = wire::start_thread([this] { serve(); });
  if (started) thread_ = std::move(*started);  // Without it the journal is copied at the end.
}

/// What cannot be copied now is copied later.
void ExperimentCopy::serve() {
  steady_clock::duration pause{};
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, pause, [this] { return ends_; })) return;
    }
    const auto begun = steady_clock::now();
    (void)copy();
    pause = std::max<steady_clock::duration>(pause_min, share * (steady_clock::now() - begun));
  }
}

Result<void> ExperimentCopy::copy() {
  const Result<std::string> text = storage::read_whole(storage::join(path_, experiment_journal_name));
  if (!text) return text.error();
  if (copied_ == text->size()) return {};
  if (auto stored = storage::replace_file(join_location(location_, experiment_journal_name), *text); !stored) {
    return stored.error();
  }
  copied_ = text->size();
  return {};
}

void ExperimentCopy::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> ExperimentCopy::close() {
  stop();
  if (auto copied = copy(); !copied) {
    return Error{copied.error().kind, "the journal of the experiment in " + shown_location(location_) + " stays in " +
                                          path_ + ": " + copied.error().message};
  }
  return storage::remove_directory(path_);
}

}  // namespace headway::driver
