#include "control/deletion_list.hpp"

#include "control/marks.hpp"

#include <algorithm>
#include <utility>

namespace headway::control {

void DeletionList::add(std::string name, std::string reason) {
  entries_.push_back({{std::move(name), std::move(reason)}, false, false});
}

void DeletionList::forget(const std::string& name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.command.name == name && !entry.under_way; });
}

std::vector<DeleteCheckpoint> DeletionList::begin() {
  std::vector<DeleteCheckpoint> commands;
  for (Entry& entry : entries_) {
    if (!std::exchange(entry.under_way, true)) commands.push_back(entry.command);
  }
  return commands;
}

std::optional<std::string> DeletionList::end(const CheckpointDeleted& outcome, bool last_try) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return each.command.name == outcome.name; });
  if (entry == entries_.end() || !entry->under_way) return std::nullopt;
  // What is not there any more (somebody else has deleted it) is as good as deleted.
  if (!outcome.error || outcome.error->kind == ErrorKind::not_found) {
    entries_.erase(entry);
    return std::nullopt;
  }
  HEADWAY_MARK(deletion_failed);
  entry->under_way = false;
  const bool told = std::exchange(entry->failed, true);
  if (last_try) return "the old checkpoint " + outcome.name + " is still there: " + outcome.error->message;
  if (told) return std::nullopt;
  return "the old checkpoint " + outcome.name +
         " could not be deleted, and will be tried again: " + outcome.error->message;
}

bool DeletionList::under_way() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.under_way; });
}

std::vector<std::string> DeletionList::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.command.name);
  return names;
}

}  // namespace headway::control
