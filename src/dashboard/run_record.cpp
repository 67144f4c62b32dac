#include "dashboard/run_record.hpp"

#include <algorithm>

namespace headway::dashboard {
namespace {

constexpr std::size_t stacks_max = 64;
constexpr std::size_t warnings_max = 200;
constexpr std::size_t validations_max = 1000;
constexpr std::size_t samples_max = 4096;

/// Keeps the newest ones.
template <class T>
void bound(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() - most));
}

/// Keeps every second one, and so the whole time.
template <class T>
void thin(std::vector<T>& list) {
  if (list.size() < samples_max) return;
  std::size_t kept = 0;
  for (std::size_t place = 1; place < list.size(); place += 2) list[kept++] = std::move(list[place]);
  list.resize(kept);
}

}  // namespace

std::string without_attempt(std::string words) {
  constexpr std::string_view said = ", in attempt ";
  const std::size_t begin = words.find(said);
  if (begin == std::string::npos || begin > words.find('\n')) return words;
  std::size_t end = begin + said.size();
  while (end < words.size() && words[end] >= '0' && words[end] <= '9') ++end;
  const bool whole = end > begin + said.size() && (end == words.size() || words[end] == '\n' || words[end] == ':');
  return whole ? words.erase(begin, end - begin) : words;
}

void RunRecord::add(const driver::LoggedHistory& logged) {
  std::visit([&](const auto& event) { hear(logged.at_unix_s, event); }, logged.event);
}

void RunRecord::hear(double at, const driver::AttemptBegan& event) {
  if (!attempts_.empty() && !attempts_.back().end_s) {
    attempts_.back().end_s = at;
    attempts_.back().end_words = "its driver ended";
  }
  AttemptRecord attempt;
  attempt.number = event.attempt;
  attempt.start_s = at;
  attempt.workers = static_cast<int>(event.hosts.size());
  attempt.hosts = event.hosts;
  attempt.resumed_from = event.checkpoint;
  attempts_.push_back(std::move(attempt));
}

void RunRecord::hear(double at, const driver::AttemptEnded& event) {
  const auto found = std::ranges::find(attempts_.rbegin(), attempts_.rend(), event.attempt, &AttemptRecord::number);
  if (found == attempts_.rend()) return;
  found->end_s = at;
  found->end_words = without_attempt(event.words);
}

void RunRecord::hear(double at, const driver::CheckpointStored& event) {
  CheckpointRecord checkpoint;
  checkpoint.name = event.name;
  checkpoint.report = event.report + 1;
  checkpoint.committed_unix_s = at;
  checkpoint.size_bytes = event.bytes;
  checkpoint.files = event.files;
  checkpoint.seconds = event.seconds;
  newest_[event.name] = checkpoints_.size();
  checkpoints_.push_back(std::move(checkpoint));
}

void RunRecord::hear(double, const driver::CheckpointGone& event) {
  const auto found = newest_.find(event.name);
  if (found == newest_.end()) return;
  checkpoints_[found->second].kept = false;
  checkpoints_[found->second].why_deleted = event.reason;
}

void RunRecord::hear(double at, const driver::CheckpointValidated& event) {
  ValidationRecord validation{event.name, at, event.metrics, event.error, event.seconds};
  const auto found = newest_.find(event.name);
  if (found != newest_.end()) checkpoints_[found->second].validation = validation;
  validations_.push_back(std::move(validation));
  bound(validations_, validations_max);
}

void RunRecord::hear(double at, const driver::StacksSeen& event) {
  for (const driver::RankStack& stack : event.ranks) stacks_.push_back({stack.rank, event.attempt, at, stack.text});
  bound(stacks_, stacks_max);
}

void RunRecord::hear(double at, const driver::StepsTaken& event) {
  steps_.push_back({at, event.attempt, event.ranks});
  thin(steps_);
}

void RunRecord::hear(double at, const driver::DataWaited& event) {
  data_.push_back({at, event.waiting_s, event.elapsed_s});
  thin(data_);
}

void RunRecord::hear(double at, const driver::Warned& event) {
  warnings_.push_back({at, event.text});
  bound(warnings_, warnings_max);
}

void RunRecord::hear(double at, const driver::RunEnded& event) {
  if (attempts_.empty() || attempts_.back().end_s) return;
  attempts_.back().end_s = at;
  attempts_.back().end_words = event.state == "errored" ? "failed" : event.state;
}

}  // namespace headway::dashboard
