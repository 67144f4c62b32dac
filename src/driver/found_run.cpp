#include "driver/found_run.hpp"

#include "core/fault_point.hpp"
#include "core/location.hpp"
#include "driver/run_history.hpp"
#include "driver/staging.hpp"
#include "driver/unix_time.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <span>
#include <unistd.h>

namespace headway::driver {
namespace {

/// Where lines end: that of the last one, and that of the one before it.
struct LineEnds {
  std::int64_t lines = 0;
  std::uint64_t last = 0;
  std::uint64_t before_last = 0;
};

Result<LineEnds> find_line_ends(const storage::File& file) {
  LineEnds ends;
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t offset = 0;;) {
    const Result<std::size_t> size = file.read_at(buffer, offset);
    if (!size) return size.error();
    for (std::size_t place = 0; place < *size; ++place) {
      if (buffer[place] != std::byte{'\n'}) continue;
      ++ends.lines;
      ends.before_last = ends.last;
      ends.last = offset + place + 1;
    }
    offset += *size;
    if (*size < buffer.size()) return ends;
  }
}

Result<void> cut(const storage::File& file, std::uint64_t size) {
  if (::ftruncate(file.descriptor(), static_cast<off_t>(size)) != 0)
    return storage::system_error("shorten", file.path(), errno);
  return file.sync();
}

/// The last line's place among the reports; nothing when it is no line of ours.
std::optional<control::FoundResults> read_line(const storage::File& file, const LineEnds& ends) {
  std::string text(ends.last - ends.before_last, '\0');
  const Result<std::size_t> size = file.read_at(std::as_writable_bytes(std::span(text)), ends.before_last);
  if (!size || *size != text.size()) return std::nullopt;
  const Result<Json> json = parse_json(text.substr(0, text.size() - 1), file.path());
  const JsonObject* line = json ? json->if_object() : nullptr;
  const Json* attempt = line != nullptr ? line->if_contains("attempt") : nullptr;
  const Json* index = line != nullptr ? line->if_contains("report_index") : nullptr;
  if (attempt == nullptr || index == nullptr || !attempt->is_int64() || !index->is_int64()) return std::nullopt;
  control::FoundResults results{ends.lines, static_cast<int>(attempt->get_int64()), index->get_int64(), 0};
  results.last_line = text.substr(0, text.size() - 1);
  const Json* time = line->if_contains("time_total_s");
  if (time != nullptr && time->is_number()) results.time_total_s = time->to_number<double>();
  return results;
}

/// The lines that storage has, or with them those that a killed driver on this machine had not
/// brought there yet.
Result<std::string> longest_lines(std::string stored, const std::string& local_directory) {
  const Result<std::vector<std::string>> names = storage::read_directory(local_directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!name.starts_with(left_results_prefix)) continue;
    Result<std::string> left = storage::read_whole(storage::join(local_directory, name));
    if (!left) return left;
    left->resize(left->rfind('\n') + 1);
    if (left->size() > stored.size() && left->starts_with(stored)) stored = std::move(*left);
  }
  return stored;
}

/// The files that a resumed run appends to: what is written on the local side replaces what is on
/// storage.
Result<void> bring_back(const std::string& location, const std::string& local_directory) {
  Result<std::string> results = storage::read_file(join_location(location, "result.json"));
  if (!results && results.error().kind != ErrorKind::not_found) return results.error();
  results = longest_lines(results ? std::move(*results) : "", local_directory);
  if (!results) return results.error();
  if (!results->empty()) {
    if (auto ok = storage::write_whole(local_directory + "/result.json", *results); !ok) return ok;
  }
  if (const auto history = storage::read_file(join_location(location, history_file))) {
    (void)storage::write_whole(local_directory + "/" + history_file, *history);
  }
  const auto logs = storage::download(join_location(location, "logs"), local_directory + "/logs");
  return logs || logs.error().kind == ErrorKind::not_found || logs.error().kind == ErrorKind::invalid_argument
             ? Result<void>()
             : logs.error();
}

/// Whether a run's journal, which was not brought to the disk, went with the machine's power. Where
/// nothing was committed either, a folder without one is a new run's.
bool is_lost(const std::string& run_directory, const Error& error, const std::vector<Manifest>& checkpoints) {
  if (error.kind == ErrorKind::not_found) return !checkpoints.empty();
  if (error.kind != ErrorKind::corrupted) return false;
  const Result<std::string> text = storage::read_file(join_location(run_directory, "run.json"));
  return text && !text->ends_with("}\n");
}

}  // namespace

Result<control::FoundResults> recover_results(const std::string& path, std::vector<std::string>& warnings) {
  const Result<bool> there = storage::exists(path);
  if (!there) return there.error();
  if (!*there) return control::FoundResults{};
  const Result<storage::File> file = storage::open_file(path, O_RDWR);
  if (!file) return file.error();
  const Result<struct ::stat> status = file->status();
  if (!status) return status.error();
  const Result<LineEnds> ends = find_line_ends(*file);
  if (!ends) return ends.error();
  if (ends->last < static_cast<std::uint64_t>(status->st_size)) {
    if (Result<void> done = cut(*file, ends->last); !done) return done.error();
    fault_point("prepare.results_cut");
  }
  if (ends->lines == 0) return control::FoundResults{};
  if (const auto results = read_line(*file, *ends)) return *results;
  warnings.push_back("the last line of " + path + " is none of Headway's and is left as it is");
  return control::FoundResults{ends->lines, 0, -1, 0};
}

Result<control::Journal> read_journal(const std::string& run_directory) {
  const std::string path = join_location(run_directory, "run.json");
  const Result<std::string> text = storage::read_file(path);
  if (text) return control::parse_journal(*text, shown_location(path));
  if (text.error().kind != ErrorKind::not_found) return text.error();
  return Error{ErrorKind::not_found, shown_location(run_directory) + " holds no run (no run.json)"};
}

Result<std::optional<control::FoundRun>> find_run(const std::string& run_directory, const std::string& local_directory,
                                                  std::vector<std::string>& warnings, bool durable) {
  std::vector<Error> unreadable;
  Result<std::vector<Manifest>> checkpoints = storage::list_checkpoints(run_directory, &unreadable);
  if (!checkpoints) return checkpoints.error();
  Result<control::Journal> journal = read_journal(run_directory);
  if (!durable && !journal && is_lost(run_directory, journal.error(), *checkpoints)) journal = control::Journal{};
  if (!journal && journal.error().kind != ErrorKind::not_found) return journal.error();
  if (!journal) {
    if (checkpoints->empty()) return std::optional<control::FoundRun>();
    return Error{ErrorKind::already_exists,
                 shown_location(run_directory) + " holds checkpoints (" + checkpoints->back().checkpoint +
                     ") and no run.json, so no run can be resumed there; choose another RunConfig.name, and give " +
                     "the checkpoint as resume_from_checkpoint"};
  }
  for (const Error& error : unreadable) {
    warnings.push_back("a checkpoint cannot be read, does not count and is left as it is: " + error.message);
  }
  std::vector<std::string> names;
  for (const Manifest& manifest : *checkpoints) names.push_back(manifest.checkpoint);
  if (is_remote(run_directory)) {
    if (Result<void> back = bring_back(run_directory, local_directory); !back) return back.error();
  } else {
    Result<std::vector<std::string>> all = storage::read_directory(run_directory);
    if (!all) return all.error();
    names = std::move(*all);
  }
  Result<control::FoundResults> results = recover_results(storage::join(local_directory, "result.json"), warnings);
  if (!results) return results.error();
  // A user may have a metric of this name; the run's clock cannot have moved by more than the time
  // since the journal was written.
  constexpr double writing_s = 60;
  const double most_s = journal->time_total_s + std::max(0.0, unix_seconds() - journal->written_unix_s) + writing_s;
  const bool is_possible = results->time_total_s >= 0 && results->time_total_s <= most_s;
  if (!is_possible) results->time_total_s = 0;
  return std::optional(control::FoundRun{std::move(*journal), std::move(*checkpoints), *results, std::move(names)});
}

}  // namespace headway::driver
