#include "dashboard/file_site.hpp"

#include "core/location.hpp"
#include "dashboard/run_summary.hpp"
#include "driver/unix_time.hpp"
#include "storage/disk/directory.hpp"
#include "storage/random_reader.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <pthread.h>
#include <span>
#include <sys/stat.h>

namespace headway::dashboard {
namespace {

constexpr auto pause = std::chrono::seconds(2);
constexpr std::uint64_t tail_bytes = std::uint64_t{256} << 10;

/// Says when a file was written last, and that it is there.
std::string stamp_of(const std::string& path) {
  struct ::stat status{};
  if (::stat(path.c_str(), &status) != 0) return "-";
  return std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + "/" +
         std::to_string(status.st_size);
}

bool has_run(const std::string& folder) { return stamp_of(storage::join(folder, "run.json")) != "-"; }

Error unknown_run(const std::string& id) { return {ErrorKind::not_found, "there is no run " + id.substr(0, 200)}; }

}  // namespace

JsonObject last_report_in(const std::string& folder) {
  const auto file = storage::RandomReader::open(join_location(folder, "result.json"));
  if (!file || file->size() == 0) return {};
  const std::uint64_t from = file->size() > tail_bytes ? file->size() - tail_bytes : 0;
  std::string text(file->size() - from, '\0');
  const auto size = file->read_at(from, std::as_writable_bytes(std::span(text)));
  if (!size) return {};
  text.resize(*size);
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
  const std::size_t begin = text.rfind('\n');
  const auto line = parse_json(begin == std::string::npos ? text : text.substr(begin + 1), "result.json");
  return line && line->is_object() ? line->get_object() : JsonObject();
}

Result<RunSummary> file_summary(const std::string& folder, const std::string& id, bool with_history) {
  const Result<SeenRun> run = run_in(folder, id);
  if (!run) return run.error();
  VerdictContext context = run->context;
  context.data = data_times_in(folder);
  RunSummary summary = summary_of(id, run->path, *run->view, context);
  if (with_history) add_history(summary, folder, *run->view, context);
  if (!summary.last.empty()) return summary;
  const JsonObject last = last_report_in(folder);
  summary.last = short_metrics(user_metrics(last));
  const Json* count = last.if_contains("training_iteration");
  if (count != nullptr && count->is_int64()) summary.reports = std::max(summary.reports, count->get_int64());
  return summary;
}

Result<std::unique_ptr<FileSite>> FileSite::open(const std::string& argument, std::string location) {
  auto site = std::unique_ptr<FileSite>(new FileSite(std::move(location)));
  if (Result<void> found = site->find(argument); !found) return found.error();
  site->show(false);
  Result<std::thread> thread = wire::start_thread([raw = site.get()] {
    pthread_setname_np(pthread_self(), "headway-view");
    raw->look();
  });
  if (!thread) return thread.error();
  site->thread_ = std::move(*thread);
  return site;
}

FileSite::~FileSite() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> FileSite::find(const std::string& argument) {
  const Error nothing{ErrorKind::not_found,
                      argument + " is " + shown_location(location_) + ", where there is no run and no experiment"};
  if (is_remote(location_)) {
    const auto run = run_in(location_, name_of(location_));
    if (!run && run.error().kind != ErrorKind::not_found) return run.error();
    kind_ = Kind::run;
    return run ? Result<void>() : nothing;
  }
  if (has_experiment(location_)) {
    kind_ = Kind::experiment;
    return {};
  }
  if (has_run(location_)) {
    kind_ = Kind::run;
    return {};
  }
  const auto names = storage::read_directory(location_);
  if (!names) return nothing;
  const bool any = std::ranges::any_of(*names, [this](const std::string& name) {
    const std::string folder = storage::join(location_, name);
    return has_run(folder) || has_experiment(folder);
  });
  return any ? Result<void>() : nothing;
}

/// What histories tell comes with the second look, so that the page of many runs is there at once.
void FileSite::look() {
  const auto rest = is_remote(location_) ? 5 * pause : pause;
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    show(true);
    lock.lock();
  } while (!ended_.wait_for(lock, rest, [this] { return closing_; }));
}

std::string FileSite::folder_of(const std::string& id) const {
  return kind_ == Kind::folder ? join_location(location_, id) : location_;
}

std::shared_ptr<const Part> FileSite::part_of_run(const std::string& folder, const std::string& id, bool with_history) {
  const std::string status = stamp_of(storage::join(folder, "status.json"));
  std::string stamp =
      stamp_of(storage::join(folder, "run.json")) + " " + status + " " + stamp_of(storage::join(folder, "result.json"));
  Shown& shown = shown_[id];
  // What is at work may die without a word, or wait longer.
  const bool same = shown.stamp == stamp && shown.has_history == with_history;
  if (shown.part && same && status == "-" && !is_remote(folder)) return shown.part;
  const Result<RunSummary> summary = file_summary(folder, id, with_history);
  if (!summary) return nullptr;
  shown = {std::move(stamp), part_of(*summary), with_history};
  return shown.part;
}

void FileSite::show(bool with_histories) {
  Overview overview;
  overview.taken_unix_s = driver::unix_seconds();
  overview.mode = "\"files\"";
  overview.driver = "null";
  const auto add_experiment = [&](const std::string& folder) {
    const std::string id = name_of(folder);
    const ExperimentSummary summary = experiment_in(folder)->with(
        [&](const ExperimentRecord& record) { return summary_of(id, folder, record, false); });
    overview.experiments.push_back(std::make_shared<const Part>(Part{id, to_json_text(summary)}));
  };
  const auto add_run = [&](const std::string& folder) {
    if (auto part = part_of_run(folder, name_of(folder), with_histories)) overview.runs.push_back(std::move(part));
  };
  if (kind_ == Kind::experiment) add_experiment(location_);
  if (kind_ == Kind::run) add_run(location_);
  if (kind_ == Kind::folder) {
    const auto names = storage::read_directory(location_);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      const std::string folder = join_location(location_, name);
      if (has_experiment(folder)) {
        add_experiment(folder);
      } else if (has_run(folder)) {
        add_run(folder);
      }
    }
  }
  events().publish(std::move(overview));
}

std::string FileSite::first_state() const {
  return R"({"number":0,"version":1,"mode":"files","driver":null,"runs":[],"experiments":[],"nodes":[],"waiting":[]})";
}

Result<SeenRun> FileSite::find_run(const std::string& id) {
  if (id.find('/') != std::string::npos) return find_trial(id);
  if (id.empty() || id.starts_with('.')) return unknown_run(id);
  if (kind_ == Kind::experiment || (kind_ == Kind::run && id != name_of(location_))) return unknown_run(id);
  Result<SeenRun> run = run_in(folder_of(id), id);
  if (!run && run.error().kind == ErrorKind::not_found) return unknown_run(id);
  return run;
}

Result<SeenExperiment> FileSite::find_experiment(const std::string& id) {
  const Error unknown{ErrorKind::not_found, "there is no experiment " + id.substr(0, 200)};
  if (id.empty() || id.starts_with('.') || id.find('/') != std::string::npos) return unknown;
  if (kind_ == Kind::run || (kind_ == Kind::experiment && id != name_of(location_))) return unknown;
  const std::string folder = folder_of(id);
  if (!has_experiment(folder)) return unknown;
  return SeenExperiment{id, experiment_in(folder), false};
}

}  // namespace headway::dashboard
