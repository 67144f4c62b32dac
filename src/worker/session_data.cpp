#include "storage/storage.hpp"
#include "worker/session.hpp"

/// Positions in data sets: from the checkpoint that an attempt begins with, and into the next one.
namespace headway::worker {
namespace {

/// What a run's own checkpoint says. A checkpoint of another run gives weights, not positions.
Result<JsonObject> cursors_in(const std::string& run_directory, const std::optional<std::string>& checkpoint) {
  if (!checkpoint || !storage::name_in_run(run_directory, *checkpoint)) return JsonObject{};
  Result<Manifest> manifest = storage::read_manifest(*checkpoint);
  if (!manifest) return manifest.error();
  return std::move(manifest->data).value_or(JsonObject{});
}

void add_missing(JsonObject& cursors, const JsonObject& others) {
  for (const auto& [name, cursor] : others) {
    if (!cursors.contains(name)) cursors[name] = cursor;
  }
}

}  // namespace

Result<JsonObject> Session::data_cursors() {
  {
    const std::lock_guard lock(mutex_);
    if (data_found_) return *data_found_;
  }
  const auto* rank = std::get_if<wire::RankRole>(&role_);
  Result<JsonObject> found = cursors_in(context_.run_directory, rank == nullptr ? std::nullopt : rank->checkpoint);
  if (!found) return found;
  const std::lock_guard lock(mutex_);
  data_found_ = *found;
  add_missing(data_now_, *found);
  return found;
}

void Session::want_function_workers(const wire::FunctionWorkersWanted& wanted) {
  if (!in_child()) (void)send(wanted);
}

void Session::set_data_cursors(const JsonObject& cursors) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, cursor] : cursors) data_now_[name] = cursor;
}

/// Rank 0's counts, and others need not send theirs.
std::optional<JsonObject> Session::data_to_report() const {
  const std::lock_guard lock(mutex_);
  return context_.plan.rank == 0 && !data_now_.empty() ? std::optional(data_now_) : std::nullopt;
}

}  // namespace headway::worker
