#include "wire/session_messages.hpp"

#include "core/manifest.hpp"

namespace headway::wire {
namespace {

Result<void> check_files(const std::vector<FileRecord>& files) {
  for (const FileRecord& file : files) {
    if (auto fits = check_file_name(file.name); !fits) return fits;
  }
  return {};
}

template <class M>
Result<void> check_said(const M&) {
  return {};
}

Result<void> check_said(const Reported& message) {
  if (!message.checkpoint) return {};
  if (const auto& name = message.checkpoint->directory_name) {
    if (auto fits = check_checkpoint_name(*name, "the reported checkpoint"); !fits) return fits;
  }
  return check_files(message.checkpoint->files);
}

Result<void> check_said(const Uploaded& message) {
  if (message.stored_name) {
    if (auto fits = check_checkpoint_name(*message.stored_name, "the stored checkpoint"); !fits) return fits;
  }
  return check_files(message.files);
}

/// So that differences of two counts fit.
Result<void> check_count(std::int64_t count, const char* name) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (count >= 0 && count <= most) return {};
  return Error{ErrorKind::corrupted, std::string(name) + " is " + std::to_string(count) + "; allowed: 0 to 2^53"};
}

Result<void> check_said(const Progressed& message) {
  const LoopProgress& progress = message.progress;
  const std::pair<const char*, std::int64_t> counts[] = {
      {"steps", progress.steps},
      {"batches", progress.batches},
      {"samples", progress.samples.value_or(0)},
      {"batch", progress.epoch ? progress.epoch->batch : 0},
      {"the epoch's batches", progress.epoch ? progress.epoch->batches.value_or(0) : 0},
      {"step times", progress.step_times.count},
  };
  for (const auto& [name, count] : counts) {
    if (auto fits = check_count(count, name); !fits) return fits;
  }
  return {};
}

Result<void> check_said(const FunctionWorkersWanted& message) {
  constexpr int workers_max = 1 << 21;  // What a plan can name (data::workers_elsewhere).
  constexpr double cpus_max = 1 << 16;
  constexpr std::size_t token_max = 256;
  const int workers_named = message.workers.value_or(0);
  const bool sound = message.port > 0 && message.port < (1 << 16) && message.token.size() <= token_max &&
                     workers_named >= 0 && workers_named <= workers_max && message.cpus >= 0 &&
                     message.cpus <= cpus_max;
  if (sound) return {};
  const std::string workers = message.workers ? std::to_string(*message.workers) : "any number of";
  return Error{ErrorKind::corrupted, "a rank wants " + workers + " function workers with " +
                                         std::to_string(message.cpus) + " CPUs each at port " +
                                         std::to_string(message.port)};
}

}  // namespace

Result<void> check_message(const FromWorker& message) {
  return std::visit([](const auto& what) { return check_said(what); }, message);
}

}  // namespace headway::wire
