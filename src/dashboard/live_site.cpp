#include "dashboard/live_site.hpp"

#include "dashboard/masking.hpp"
#include "driver/unix_time.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <array>
#include <pthread.h>
#include <unistd.h>

namespace headway::dashboard {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  (void)gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

Result<std::unique_ptr<LiveSite>> LiveSite::open(std::shared_ptr<driver::Watch> watch) {
  auto site = std::unique_ptr<LiveSite>(new LiveSite(std::move(watch)));
  Result<std::thread> thread = wire::start_thread([raw = site.get()] {
    pthread_setname_np(pthread_self(), "headway-view");
    raw->look();
  });
  if (!thread) return thread.error();
  site->thread_ = std::move(*thread);
  return site;
}

LiveSite::LiveSite(std::shared_ptr<driver::Watch> watch)
    : watch_(std::move(watch)),
      driver_(json_text(JsonObject{{"host", host_name()}, {"pid", static_cast<std::int64_t>(getpid())}})) {}

LiveSite::~LiveSite() {
  watch_->give_up();
  if (thread_.joinable()) thread_.join();
}

/// How long a wait has lasted changes what is said of a run, although nothing happens: so each
/// second is looked at.
void LiveSite::look() {
  while (true) {
    const auto snapshot = watch_->next(std::chrono::seconds(1));
    if (snapshot) {
      const std::lock_guard lock(mutex_);
      newest_ = snapshot;
    } else if (watch_->is_given_up() || watch_->is_over()) {
      return;
    }
    if (newest_) show(*newest_);
  }
}

void LiveSite::show(const driver::Snapshot& snapshot) {
  Overview overview;
  overview.taken_unix_s = snapshot.taken_unix_s;
  overview.mode = "\"live\"";
  overview.driver = driver_;
  for (const auto& run : snapshot.runs) overview.runs.push_back(part_of_run(run, snapshot));
  overview.nodes = to_json_text(snapshot.engine.nodes);
  overview.waiting = to_json_text(snapshot.engine.waiting);
  events_.publish(std::move(overview));
}

std::shared_ptr<const Part> LiveSite::part_of_run(const std::shared_ptr<const driver::RunStatus>& run,
                                                  const driver::Snapshot& snapshot) {
  VerdictContext context;
  if (!control::is_over(run->view.state))
    context.age_s = std::max(0.0, driver::unix_seconds() - run->view.taken_unix_s);
  const auto waiting = std::ranges::find(snapshot.engine.waiting, run->run_id, &engine::WaitingView::holder);
  if (waiting != snapshot.engine.waiting.end()) {
    context.wanted = waiting->wanted;
    context.wants_nodes = waiting->for_nodes;
  }
  return part_of(summary_of(std::to_string(run->run_id), run->path, run->view, context));
}

std::shared_ptr<const driver::RunStatus> LiveSite::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  if (!newest_) return nullptr;
  const auto found = std::ranges::find(newest_->runs, id, [](const auto& run) { return std::to_string(run->run_id); });
  return found == newest_->runs.end() ? nullptr : *found;
}

Answer LiveSite::answer(const Target& target) {
  const std::vector<std::string>& path = target.path;
  if (path == std::vector<std::string>{"api", "state"}) {
    const auto newest = events_.newest();
    return {200, newest ? newest->text() : "{\"number\":0,\"version\":1,\"mode\":\"live\",\"runs\":[]}"};
  }
  if (path.size() >= 3 && path[0] == "api" && path[1] == "runs") return answer_run(target);
  return answer_of(Error{ErrorKind::not_found, "there is nothing at this address"});
}

Answer LiveSite::answer_run(const Target& target) {
  const auto run = find(target.path[2]);
  if (!run) return answer_of(Error{ErrorKind::not_found, "there is no run " + target.path[2]});
  if (target.path.size() > 3) return answer_of(Error{ErrorKind::not_found, "there is nothing at this address"});
  Json json = to_json(summary_of(target.path[2], run->path, run->view, {}));
  json.as_object()["view"] = to_json(run->view);
  mask_secrets(json);
  return {200, json_text(json)};
}

}  // namespace headway::dashboard
