#include "control/journal.hpp"

#include "control/failure_text.hpp"

#include <algorithm>
#include <array>

namespace headway::control {

namespace {

/// Checkpoints that it names are deleted by it; and counters continue from its numbers.
Result<void> check_names_and_numbers(const Journal& journal) {
  for (const KeptCheckpoint& kept : journal.checkpoints) {
    if (auto fits = check_checkpoint_name(kept.name, "a checkpoint"); !fits) return fits;
  }
  for (const std::string& name : journal.to_delete) {
    if (auto fits = check_checkpoint_name(name, "a checkpoint to delete"); !fits) return fits;
  }
  for (const std::int64_t count : {std::int64_t{journal.attempt}, journal.reports, journal.names_given}) {
    if (count < 0) return Error{ErrorKind::corrupted, "it counts " + std::to_string(count)};
  }
  return {};
}

}  // namespace

Result<Journal> parse_journal(std::string_view text, std::string_view subject) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::corrupted, std::string(subject) + " is not the journal of a run: " + why};
  };
  Result<Json> json = parse_json(text, subject);
  if (!json) return refuse(json.error().message);
  const JsonObject* object = json->if_object();
  const Json* version = object != nullptr ? object->if_contains("version") : nullptr;
  if (version == nullptr || !version->is_int64()) return refuse("it has no version");
  if (!object->contains("state") || !object->contains("spec")) return refuse("it has no state or no spec");
  if (version->get_int64() > journal_version) {
    return Error{ErrorKind::corrupted, std::string(subject) + " was written by a newer Headway (version " +
                                           std::to_string(version->get_int64()) + "; this one reads up to version " +
                                           std::to_string(journal_version) +
                                           "): use that one, or another RunConfig.name"};
  }
  // An older version may have stored it.
  fill_missing(json->get_object(), to_json(Journal{}).get_object());
  Journal journal;
  if (const auto wrong = codec::read(codec::of<Journal>, *json, &journal)) {
    return refuse("expected " + wrong->expected + ", found " + wrong->found);
  }
  if (auto sound = check_names_and_numbers(journal); !sound) return refuse(sound.error().message);
  return journal;
}

bool is_complete(const Journal& journal) { return journal.state == "finished"; }

/// Journals are written before an attempt and when its ranks begin (after it was counted), when it
/// has ended and the next one must wait, at the end, and in an attempt when a validation has ended:
/// those of an attempt know of all checkpoints whose reports they have counted.
bool follows(const Manifest& manifest, const Journal& journal) {
  if (manifest.attempt != journal.attempt) return manifest.attempt > journal.attempt;
  constexpr std::array<std::string_view, 5> over = {"scheduling", "restarting", "validating", "errored", "aborted"};
  const bool ended = is_complete(journal) || std::find(over.begin(), over.end(), journal.state) != over.end();
  return !ended && manifest.index >= journal.reports;
}

std::string unfinished_reason(const Journal& journal) {
  if (journal.state == "aborted") return journal.abort_reason.value_or("it was aborted");
  if (journal.state == "errored") return headline({ErrorKind::internal, journal.failure.value_or("it failed"), {}});
  return "the driver ended before the run did";
}

}  // namespace headway::control
