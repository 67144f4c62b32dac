#include "control/collective_watch.hpp"

#include "control/worker_group.hpp"

#include <algorithm>
#include <set>

namespace headway::control {
namespace {

/// How long a rank may take for its answer. One that is stopped, or whose interpreter is held by a
/// call, never gives one.
constexpr Duration answer_grace = std::chrono::seconds(2);

std::string label(const OpenCollective& open) { return open.operation + " #" + std::to_string(open.sequence); }

std::string name_of(const OpenCollective& open, const std::string& group) {
  return label(open) + " of process group " + group;
}

}  // namespace

/// Ages are measured in ranks, and a little is lost on the way.
Duration CollectiveWatch::patience() const { return *every_ - *every_ / 50; }

void CollectiveWatch::restart(Time now, int world_size) {
  world_size_ = world_size;
  answers_.clear();
  answers_due_.reset();
  stuck_.reset();
  if (every_) next_look_ = now + *every_;
}

CollectiveWatch::Step CollectiveWatch::advance(Time now, bool idle, bool disturbed) {
  Step step;
  if (!every_) return step;
  if (!idle) {
    stuck_.reset();
    answers_due_.reset();
    next_look_ = now + *every_;
    return step;
  }
  const Duration grace = std::min(*every_, answer_grace);
  if (disturbed) {
    if (answers_due_) answers_due_ = now + grace;
    return step;
  }
  if (answers_due_ && now >= *answers_due_) judge(now);
  if (!answers_due_ && now >= next_look_) step.look = look_now(), answers_due_ = now + grace;
  const Time due = answers_due_.value_or(next_look_);
  if (!armed_ || *armed_ > due) step.wake_at = armed_ = due;
  return step;
}

std::int64_t CollectiveWatch::look_now() {
  answers_.clear();
  return ++looks_;
}

void CollectiveWatch::seen(Time now, int rank, std::int64_t look, std::vector<GroupPosition> positions) {
  if (look != looks_) return;
  for (GroupPosition& position : positions) {
    std::erase_if(position.ranks, [this](int member) { return member < 0 || member >= world_size_; });
  }
  answers_[rank] = {now, std::move(positions)};
  if (answers_due_ && static_cast<int>(answers_.size()) == world_size_) judge(now);
}

/// All have answered, or those that have not are not going to.
void CollectiveWatch::judge(Time now) {
  answers_due_.reset();
  next_look_ = now + *every_;
  std::vector<StuckCollective> found;
  for (const auto& [rank, answer] : answers_) {
    for (const GroupPosition& position : answer.positions) {
      for (const OpenCollective& open : position.open) {
        const Time entered = answer.at - from_seconds(open.age_s);
        if (now - entered >= patience()) {
          add_candidate(found, position, open, entered);
        } else {
          next_look_ = std::min(next_look_, entered + *every_);
        }
      }
    }
  }
  // Ranks wait for ranks that wait for others: the one that is reported waits for somebody who does
  // not.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.since < b.since; });
  const auto leads_to_cause = [&](const StuckCollective& each) {
    return std::any_of(each.awaited.begin(), each.awaited.end(), [&](int rank) { return !is_held_up(rank, now); });
  };
  const auto is_known = [this](const StuckCollective& each) {
    return stuck_ && each.group == stuck_->group && each.sequence == stuck_->sequence;
  };
  auto told = std::find_if(found.begin(), found.end(), leads_to_cause);
  if (told == found.end()) told = found.begin();
  const auto known = std::find_if(found.begin(), found.end(), is_known);
  if (known != found.end() && leads_to_cause(*known) == leads_to_cause(*told)) told = known;
  if (found.empty()) {
    stuck_.reset();
    return;
  }
  const bool again = is_known(*told);
  if (again) told->since = stuck_->since;
  told->looks = again ? stuck_->looks + 1 : 1;
  stuck_ = std::move(*told);
}

void CollectiveWatch::add_candidate(std::vector<StuckCollective>& found, const GroupPosition& position,
                                    const OpenCollective& open, Time entered) const {
  for (StuckCollective& known : found) {
    if (known.group != position.group || known.sequence != open.sequence) continue;
    known.since = std::min(known.since, entered);
    return;
  }
  StuckCollective stuck{position.group, open.sequence, entered, {}, {}, {}, 0, name_of(open, position.group), ""};
  std::set<std::string> operations;
  std::string parts;
  // A rank is in another collective of the group: point-to-point calls count as well.
  bool elsewhere = false;
  for (int rank : position.ranks) {
    if (!has_entered(rank, position.group, open.sequence)) {
      stuck.awaited.push_back(rank);
      if (is_absent(rank, position.group, open.sequence)) stuck.absent.push_back(rank);
      const OpenCollective* other = first_open(rank, position.group);
      elsewhere = elsewhere || other != nullptr;
      if (other != nullptr) parts += (parts.empty() ? "" : ", ") + rank_list({rank}) + " in " + label(*other);
    } else if (const OpenCollective* inside = open_in(rank, position.group, open.sequence)) {
      stuck.waiting.push_back(rank);
      operations.insert(inside->operation);
      parts += (parts.empty() ? "" : ", ") + rank_list({rank}) + " in " + label(*inside);
    }
  }
  if (elsewhere) {
    stuck.sentence =
        "the ranks have been in collectives of process group " + position.group + " that do not meet (" + parts + ")";
  } else if (!stuck.awaited.empty()) {
    stuck.sentence =
        ranks_have(stuck.awaited) + " not entered " + stuck.name + ", in which " + ranks_have(stuck.waiting) + " been";
  } else if (operations.size() > 1) {
    stuck.sentence =
        "the ranks have been in different collectives of process group " + position.group + " (" + parts + ")";
    stuck.awaited = stuck.waiting;
  } else {
    stuck.sentence = ranks_have(stuck.waiting) + " been in " + stuck.name + ", which every rank has entered,";
    stuck.awaited = stuck.waiting;
  }
  found.push_back(std::move(stuck));
}

bool CollectiveWatch::has_entered(int rank, const std::string& group, std::int64_t sequence) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return false;
  const std::vector<GroupPosition>& positions = answer->second.positions;
  return std::any_of(positions.begin(), positions.end(), [&](const GroupPosition& position) {
    return position.group == group && position.sequence >= sequence;
  });
}

bool CollectiveWatch::is_absent(int rank, const std::string& group, std::int64_t sequence) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return false;
  const std::vector<GroupPosition>& positions = answer->second.positions;
  return std::any_of(positions.begin(), positions.end(), [&](const GroupPosition& position) {
    return position.group == group && position.sequence < sequence;
  });
}

const OpenCollective* CollectiveWatch::open_in(int rank, const std::string& group, std::int64_t sequence) const {
  for (const GroupPosition& position : answers_.at(rank).positions) {
    if (position.group != group) continue;
    for (const OpenCollective& open : position.open) {
      if (open.sequence == sequence) return &open;
    }
  }
  return nullptr;
}

const OpenCollective* CollectiveWatch::first_open(int rank, const std::string& group) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return nullptr;
  for (const GroupPosition& position : answer->second.positions) {
    if (position.group == group && !position.open.empty()) return &position.open.front();
  }
  return nullptr;
}

/// Whether a rank is itself inside a collective that has taken too long.
bool CollectiveWatch::is_held_up(int rank, Time now) const {
  const auto answer = answers_.find(rank);
  if (answer == answers_.end()) return false;
  const auto is_old = [&](const OpenCollective& open) {
    return now - answer->second.at + from_seconds(open.age_s) >= patience();
  };
  const std::vector<GroupPosition>& positions = answer->second.positions;
  return std::any_of(positions.begin(), positions.end(), [&](const GroupPosition& position) {
    return std::any_of(position.open.begin(), position.open.end(), is_old);
  });
}

std::string CollectiveWatch::crossed(const std::vector<int>& awaited, const std::vector<int>& reporting) const {
  for (const int inside : awaited) {
    const auto answer = answers_.find(inside);
    if (answer == answers_.end()) continue;
    for (const GroupPosition& position : answer->second.positions) {
      if (position.open.empty()) continue;
      const OpenCollective& open = position.open.front();
      std::vector<int> outside;
      for (const int rank : reporting) {
        const bool member = std::find(position.ranks.begin(), position.ranks.end(), rank) != position.ranks.end();
        if (member && is_absent(rank, position.group, open.sequence)) outside.push_back(rank);
      }
      if (outside.empty()) continue;
      return rank_list({inside}) + " is in " + name_of(open, position.group) + ", which " + ranks_have(outside) +
             " not entered";
    }
  }
  return "";
}

std::string CollectiveWatch::describe_positions(Time now) const {
  constexpr int lines_max = 16;
  if (answers_.empty()) return "";
  std::string text;
  for (int rank = 0; rank < std::min(world_size_, lines_max); ++rank) {
    text += "  rank " + std::to_string(rank) + ":";
    const auto answer = answers_.find(rank);
    if (answer == answers_.end()) {
      text += " does not answer\n";
      continue;
    }
    std::string parts;
    for (const GroupPosition& position : answer->second.positions) {
      parts += parts.empty() ? " " : "; ";
      if (position.open.empty()) {
        parts += "in none of process group " + position.group + ", after #" + std::to_string(position.sequence);
      } else {
        const OpenCollective& open = position.open.front();
        parts += "in " + name_of(open, position.group) + " for " +
                 seconds_text(now - answer->second.at + from_seconds(open.age_s));
      }
    }
    text += (parts.empty() ? " has no process group" : parts) + "\n";
  }
  if (world_size_ > lines_max) text += "  and " + std::to_string(world_size_ - lines_max) + " more ranks\n";
  return text;
}

}  // namespace headway::control
