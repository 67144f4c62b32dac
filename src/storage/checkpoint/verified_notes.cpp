#include "storage/checkpoint/verified_notes.hpp"

#include "core/location.hpp"
#include "storage/storage.hpp"

#include <chrono>

namespace headway::storage {

Result<void> note_verified(const std::string& run_directory, const std::vector<Verification>& found) {
  if (const auto run = read_file(join_location(run_directory, "run.json")); !run) return run.error();
  VerifiedNotes notes = verified_in(run_directory);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  for (const Verification& each : found) {
    VerifiedNote note{now.count(), each.files, each.bytes, ""};
    if (!each.damaged.empty()) note.damage = to_text(each.damaged.front());
    notes.insert_or_assign(name_of(each.checkpoint), std::move(note));
  }
  return replace_file(join_location(run_directory, verified_file), to_json_text(notes) + "\n");
}

VerifiedNotes verified_in(const std::string& run_directory) {
  const Result<std::string> text = read_file(join_location(run_directory, verified_file));
  if (!text) return {};
  Result<VerifiedNotes> notes = from_json_text<VerifiedNotes>(*text, verified_file);
  return notes ? std::move(*notes) : VerifiedNotes();
}

}  // namespace headway::storage
