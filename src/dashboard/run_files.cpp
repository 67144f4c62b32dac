#include "dashboard/run_files.hpp"

#include "core/location.hpp"
#include "dashboard/verdict.hpp"
#include "storage/random_reader.hpp"
#include "storage/storage.hpp"

#include <algorithm>
#include <ranges>
#include <span>

namespace headway::dashboard {
namespace {

/// Where attempts begin, their hosts are named; at the end stand the steps of all ranks.
constexpr std::uint64_t first_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t last_bytes = std::uint64_t{512} << 10;

/// The lines that are whole between two offsets.
void add_lines(const storage::RandomReader& file, std::uint64_t from, std::uint64_t to, RunRecord& record) {
  std::string text(to - from, '\0');
  const auto size = file.read_at(from, std::as_writable_bytes(std::span(text)));
  if (!size) return;
  text.resize(*size);
  std::size_t begin = from == 0 ? 0 : text.find('\n');
  if (begin == std::string::npos) return;
  if (from != 0) ++begin;
  for (std::size_t end = text.find('\n', begin); end != std::string::npos; end = text.find('\n', begin)) {
    if (const auto logged = driver::parse_history_line(std::string_view(text).substr(begin, end - begin))) {
      record.add(*logged);
    }
    begin = end + 1;
  }
}

}  // namespace

RunFiles::RunFiles(const std::string& folder)
    : results_(join_location(folder, "result.json")), history_(join_location(folder, driver::history_file)) {}

/// What cannot be read is not shown: the page says what is known.
void RunFiles::refresh() {
  (void)results_.read([this] { series_.clear(); },
                      [this](std::string_view line) {
                        const Result<Json> report = parse_json(line, "result.json");
                        if (report && report->is_object()) series_.add(report->get_object());
                      });
  (void)history_.read([this] { record_.clear(); },
                      [this](std::string_view line) {
                        if (const auto logged = driver::parse_history_line(line)) record_.add(*logged);
                      });
}

std::shared_ptr<RunFiles> RunShelf::of(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(files_, folder, [](const auto& entry) { return entry.first; });
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
  } else {
    files_.emplace_front(folder, std::make_shared<RunFiles>(folder));
    if (files_.size() > kept_max) files_.pop_back();
  }
  return files_.front().second;
}

std::string place_of_awaited(RunFiles& files, const control::RunView& view) {
  if (!view.wait || view.wait->awaited.empty()) return "";
  const int rank = view.wait->awaited.front();
  return files.with([&](const RunRecord& record, const Series&) -> std::string {
    for (const StackRecord& stack : std::views::reverse(record.stacks())) {
      if (stack.rank != rank || stack.attempt != view.attempt) continue;
      const std::string place = place_in_stack(stack.text);
      return place.empty() ? "" : "rank " + std::to_string(rank) + " is in " + place;
    }
    return "";
  });
}

RunRecord history_ends_in(const std::string& folder) {
  RunRecord record;
  const auto file = storage::RandomReader::open(join_location(folder, driver::history_file));
  if (!file) return record;
  const std::uint64_t size = file->size();
  if (size <= first_bytes + last_bytes) {
    add_lines(*file, 0, size, record);
  } else {
    add_lines(*file, 0, first_bytes, record);
    add_lines(*file, size - last_bytes, size, record);
  }
  return record;
}

std::optional<control::DataTimes> data_times_in(const std::string& folder) {
  const Result<std::string> text = storage::read_file(join_location(folder, "data_waits.json"));
  if (!text) return std::nullopt;
  Result<control::DataTimes> times = from_json_text<control::DataTimes>(*text, "data_waits.json");
  if (!times) return std::nullopt;
  return std::move(*times);
}

}  // namespace headway::dashboard
