#pragma once

#include <stdexcept>
#include <string>

namespace headway::sim {

/// What must hold at every moment of every run, whatever goes wrong.
namespace invariant {
inline constexpr const char* nothing_lost = "what was committed is in the book, or went by rule after something newer";
inline constexpr const char* retention = "what num_to_keep keeps stays, and nothing else";
inline constexpr const char* counted_once = "each report is counted once, in order";
inline constexpr const char* newest_resumed = "all ranks resume from the newest committed checkpoint";
inline constexpr const char* one_group = "two groups never train at once";
inline constexpr const char* slots = "slots are given back when nobody works there any more";
inline constexpr const char* budget = "the failure budget and its waits hold";
inline constexpr const char* notice_period = "a driver that is to end leaves ranks the time to save a checkpoint";
inline constexpr const char* living_attempts = "no command is for an attempt that has ended";
inline constexpr const char* answers =
    "a report is answered once, to all ranks alike, and not before what it says is so";
inline constexpr const char* world_size = "the group has its size, and each rank its place";
inline constexpr const char* liveness = "after the last fault the run ends";
inline constexpr const char* one_finish = "Finish comes once, with nothing open and nothing after it";
inline constexpr const char* outcome = "the outcome says what happened";
inline constexpr const char* reasons = "what ends or restarts something says why";
inline constexpr const char* no_leftovers = "nothing that was begun and not committed remains";
inline constexpr const char* whole_checkpoints = "a committed checkpoint has every file that was offered, whole";
inline constexpr const char* undisturbed_writers = "nothing is removed while a rank writes to it";
inline constexpr const char* stale_events = "an event of an attempt that has ended changes nothing";
inline constexpr const char* own_folder = "nothing is written to a folder that was not prepared";
inline constexpr const char* one_sync = "the run's files are brought to storage once at a time";
inline constexpr const char* collectives =
    "a barrier or broadcast is released once, and only when every rank of the attempt has come to it";
inline constexpr const char* validations =
    "no more validations run than may, each for a checkpoint that waits for it, and no result of one is lost";
inline constexpr const char* artifacts =
    "working directories are copied once at a time, and go only when all of them is copied";
inline constexpr const char* callbacks = "ranks are no further ahead of the callbacks than they may be";
inline constexpr const char* views = "who looks at a run sees what has happened";
inline constexpr const char* order_of_commits = "commits follow one another in the order of their reports";
}  // namespace invariant

/// An invariant that did not hold.
class Violation : public std::runtime_error {
 public:
  Violation(std::string invariant, const std::string& detail)
      : std::runtime_error(invariant + ": " + detail), invariant_(std::move(invariant)) {}
  const std::string& invariant() const { return invariant_; }

 private:
  std::string invariant_;
};

/// `detail` may be a function that makes the words, only when they are needed.
template <class Detail>
void require(bool holds, const char* invariant, const Detail& detail) {
  if (holds) return;
  if constexpr (requires { detail(); }) {
    throw Violation(invariant, detail());
  } else {
    throw Violation(invariant, detail);
  }
}

}  // namespace headway::sim
