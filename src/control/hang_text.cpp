#include "control/hang_text.hpp"

#include "control/failure_text.hpp"

#include <algorithm>
#include <set>

namespace headway::control {
namespace {

std::string report_name(const Wait& wait) { return "report #" + std::to_string(wait.index + 1); }

std::string hook_headline(const std::string& hook, const WaitScene& scene, const std::string& lasting) {
  if (scene.awaited.empty()) return hook + " has not returned" + lasting;
  return ranks_have(scene.awaited) + " not answered a call of " + hook + ", which has not returned" + lasting;
}

/// As people call it, with its number among the collective calls.
std::string gathering_name(const Wait& wait, const std::string& kind) {
  return (kind == "broadcast" ? "the broadcast" : kind + "()") + " #" + std::to_string(wait.index + 1);
}

constexpr auto setup_hooks = "the backend's set-up (on_start, on_training_start)";
constexpr auto teardown_hook = "the backend's on_shutdown";
constexpr auto callbacks = "a callback, or a function that may stop the run,";

/// "  " before each line.
std::string indented(const std::string& text) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += "  " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

/// Neither wait can end, unless other threads of the ranks end one.
std::string crossed_waits(const WaitScene& scene) {
  if (scene.crossed.empty()) return "";
  return "Each of these waits is for the other: " + rank_list(scene.waiting) +
         (scene.waiting.size() == 1 ? " waits" : " wait") + " in " + report_name(scene.wait) + ", and " +
         scene.crossed +
         ". Every rank must call report() equally often, and in the same place between collectives (DDP and FSDP call "
         "them in each step).\n";
}

/// The words of those that have waited the longest; the others' are lines below.
std::string data_headline(const WaitScene& scene, const std::string& lasting) {
  if (scene.data.empty()) return ranks_have(scene.waiting) + " waited for data" + lasting;
  const std::string& first = scene.data.front();
  const std::size_t words = first.find(": ");
  return first.substr(0, words) + lasting + (words == std::string::npos ? "" : first.substr(words));
}

std::string data_lines(const WaitScene& scene) {
  std::string text;
  const std::size_t told = scene.wait.kind == WaitKind::data ? 1 : 0;
  for (std::size_t i = told; i < scene.data.size(); ++i) text += scene.data[i] + "\n";
  return text;
}

/// `ended`: of an attempt that ends for it.
std::string details(const WorkerGroup& group, const WaitScene& scene, const RanksExamined& seen, Time now, bool ended) {
  std::string text = data_lines(scene) + crossed_waits(scene);
  // Ranks that are not started yet have one text: what their factory is doing.
  std::set<std::string> told;
  for (const auto& [rank, process] : seen.processes) {
    const std::string& what = process.text;
    if (!told.insert(what).second) continue;
    for (const auto& [other, same] : seen.processes) {
      if (same.text == what) text += (other == rank ? "" : ", ") + group.name_of(other);
    }
    text += ":\n" + indented(what);
  }
  if (!seen.hook_text.empty()) text += "The thread that called fit():\n" + indented(seen.hook_text);
  const std::string doing = ended ? "What the ranks were doing:\n" : "What the ranks are doing:\n";
  if (group.size() > 0) text += doing + group.describe_others(-1, now);
  if (!scene.positions.empty()) text += "Where they stand in their collectives:\n" + scene.positions;
  return text;
}

/// Without how long it has lasted when `lasted` is empty.
std::string headline(const WaitScene& scene, const std::string& lasted) {
  const std::string lasting = lasted.empty() ? "" : " for " + lasted;
  switch (scene.wait.kind) {
    case WaitKind::storage: return "storage has not answered" + lasting + ": " + scene.subject;
    case WaitKind::ready:
      if (scene.busy)
        return ranks_have(scene.awaited) + " been starting for " + lasted + ": " +
               (scene.importing.empty() ? "at work" : "importing " + scene.importing);
      return ranks_have(scene.awaited) + " not become ready" + lasting;
    case WaitKind::setup: return hook_headline(setup_hooks, scene, lasting);
    case WaitKind::report:
      return ranks_have(scene.awaited) + " not come to " + report_name(scene.wait) + ", in which " +
             ranks_have(scene.waiting) + " waited" + lasting;
    case WaitKind::gathering:
      return ranks_have(scene.awaited) + " not come to " + gathering_name(scene.wait, scene.subject) + ", in which " +
             ranks_have(scene.waiting) + " waited" + lasting;
    case WaitKind::upload:
      return ranks_have(scene.awaited) + " been storing files of " + scene.subject + lasting + ", and " +
             (scene.waiting.empty() ? "the run's end waits for it"
                                    : rank_list(scene.waiting) + (scene.waiting.size() == 1 ? " waits" : " wait") +
                                          " for it in " + report_name(scene.wait));
    case WaitKind::collective: return scene.subject + lasting;
    case WaitKind::data: return data_headline(scene, lasting);
    case WaitKind::callback:
      return std::string(callbacks) + " has not returned" + lasting + ", and the ranks wait for it";
    case WaitKind::teardown: return hook_headline(teardown_hook, scene, lasting);
    case WaitKind::exit:
      if (scene.leased) {
        return rank_list(scene.awaited) + (scene.awaited.size() == 1 ? " was" : " were") +
               " on a lost node, whose lease has not run out" + lasting + ": until then processes may still run there";
      }
      return ranks_have(scene.awaited) + " not exited" + (lasted.empty() ? "" : ", " + lasted) +
             " after the order to end";
  }
  return "";
}

}  // namespace

std::string unmatched_collective(const StuckCollective& stuck) {
  return ranks_have(stuck.awaited) + " finished the training function, and " + ranks_have(stuck.waiting) + " been in " +
         stuck.name;
}

std::string hang_headline(const WaitScene& scene, Time now) {
  return headline(scene, seconds_text(now - scene.wait.since));
}

std::string wait_words(const WaitScene& scene) { return headline(scene, ""); }

namespace {

/// "rank 1 did not come to report #3, in which rank 0 waited for 30.0 s".
std::string ended_headline(const WaitScene& scene, Time now) {
  const bool report = scene.wait.kind == WaitKind::report;
  if (!report && scene.wait.kind != WaitKind::gathering) return hang_headline(scene, now);
  return rank_list(scene.awaited) + " did not come to " +
         (report ? report_name(scene.wait) : gathering_name(scene.wait, scene.subject)) + ", in which " +
         rank_list(scene.waiting) + " waited for " + seconds_text(now - scene.wait.since);
}

}  // namespace

std::string describe_hang(const WorkerGroup& group, const WaitScene& scene, const RanksExamined& seen, Time now) {
  const std::string attempt = scene.attempt == 0 ? "" : " (attempt " + std::to_string(scene.attempt) + ")";
  const bool ending = scene.wait.kind == WaitKind::exit && !scene.subject.empty();
  const std::string why = ending ? "Why the attempt was ended: " + scene.subject + "\n" : "";
  std::string begin = hang_headline(scene, now) + attempt + "\n";
  if (!scene.importing.empty()) return begin;
  return begin + why + details(group, scene, seen, now, false);
}

std::string describe_resolved(const HangWatch::Resolved& resolved) {
  const std::string after = ", after " + seconds_text(resolved.took);
  switch (resolved.wait.kind) {
    case WaitKind::storage: return "storage has answered" + after;
    case WaitKind::ready: return "every rank is ready" + after;
    case WaitKind::setup: return std::string(setup_hooks) + " has returned" + after;
    case WaitKind::report: return "every rank has come to " + report_name(resolved.wait) + after;
    case WaitKind::gathering:
      return "every rank has come to the collective call #" + std::to_string(resolved.wait.index + 1) + after;
    case WaitKind::upload: return "the files of " + report_name(resolved.wait) + " are stored" + after;
    case WaitKind::collective: return "the ranks have left their collective" + after;
    case WaitKind::data: return "the ranks that waited for data have it" + after;
    case WaitKind::callback: return std::string(callbacks) + " has returned" + after;
    case WaitKind::teardown: return std::string(teardown_hook) + " has returned" + after;
    case WaitKind::exit: return "every process has exited" + after;
  }
  return "";
}

RunFailure describe_hang_failure(const WorkerGroup& group, const WaitScene& scene, const RanksExamined& seen,
                                 double hang_fail_s, Time now) {
  RunFailure failure{ErrorKind::worker_died, "", {}};
  const std::string headline = ended_headline(scene, now);
  failure.message = headline + ", in attempt " + std::to_string(scene.attempt) + "\n" +
                    "FailureConfig.hang_fail_s ends an attempt after a wait of " +
                    seconds_text(from_seconds(hang_fail_s)) + ".\n" + details(group, scene, seen, now, true);
  for (int rank : scene.awaited) {
    failure.ranks.push_back(rank_failure(group, rank, RankFailureKind::hang, headline, scene.attempt));
  }
  failure.in_collective = scene.wait.kind == WaitKind::collective;
  return failure;
}

}  // namespace headway::control
