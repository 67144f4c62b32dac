#include "control/validation_queue.hpp"

#include <algorithm>

namespace headway::control {

std::optional<std::string> ValidationQueue::refusal(const ValidationTask& task) const {
  if (!task.call && !config_.has_function) return "the trainer has no validation function";
  const auto waiting =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& each) { return each.number == 0; });
  if (static_cast<std::size_t>(waiting) >= waiting_max)
    return std::to_string(waiting_max) + " validations wait already";
  return std::nullopt;
}

void ValidationQueue::add(std::string checkpoint, std::int64_t report, ValidationTask task) {
  entries_.push_back({0, std::move(checkpoint), report, std::move(task)});
}

std::optional<std::string> ValidationQueue::behind_warning() {
  const auto waiting =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& each) { return each.number == 0; });
  if (told_behind_ || static_cast<std::size_t>(waiting) < behind) return std::nullopt;
  told_behind_ = true;
  return "validations fall behind the training: " + std::to_string(waiting) +
         " wait, and their checkpoints are kept until then, whatever num_to_keep says (ValidationConfig.max_concurrent "
         "is " +
         std::to_string(config_.max_concurrent) + ")";
}

std::vector<EndValidation> ValidationQueue::forget(const std::string& checkpoint) {
  std::vector<EndValidation> ended;
  std::erase_if(entries_, [&](const Validation& each) { return each.checkpoint == checkpoint && each.number == 0; });
  for (Validation& each : entries_) {
    if (each.checkpoint != checkpoint || std::exchange(each.ending, true)) continue;
    ended.push_back({each.number, EndMode::kill, checkpoint + " was reported again"});
  }
  return ended;
}

std::vector<StartValidation> ValidationQueue::start() {
  std::vector<StartValidation> started;
  auto processes = std::count_if(entries_.begin(), entries_.end(), [](const auto& each) { return each.number != 0; });
  while (!stopped_ && processes < config_.max_concurrent) {
    const auto waits = [](const Validation& each) { return each.number == 0; };
    auto next = std::find_if(entries_.begin(), entries_.end(), waits);
    if (config_.order == "newest") {
      const auto newest = std::find_if(entries_.rbegin(), entries_.rend(), waits);
      if (newest != entries_.rend()) next = std::prev(newest.base());
    }
    if (next == entries_.end()) break;
    next->number = ++numbers_;
    started.push_back({next->number, next->checkpoint, next->task, worker_claim(config_)});
    ++processes;
  }
  return started;
}

ValidationQueue::Validation* ValidationQueue::running(std::int64_t number) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Validation& each) { return each.number == number; });
  return number != 0 && found != entries_.end() && !found->ending ? &*found : nullptr;
}

const ValidationQueue::Validation* ValidationQueue::with_process(std::int64_t number) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Validation& each) { return each.number == number; });
  return number != 0 && found != entries_.end() ? &*found : nullptr;
}

std::optional<double> ValidationQueue::timeout_s(const Validation& validation) const {
  return validation.task.as_configured ? config_.timeout_s : validation.task.timeout_s;
}

ValidationQueue::Validation* ValidationQueue::settle(std::int64_t number) {
  Validation* validation = running(number);
  if (validation == nullptr) return nullptr;
  validation->ending = true;
  return validation;
}

ValidationQueue::Exit ValidationQueue::exit(std::int64_t number) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Validation& each) { return each.number == number; });
  if (number == 0 || found == entries_.end()) return {};
  Exit exit;
  if (!found->ending) {
    ++found->deaths;
    exit.died = *found;
    exit.again = found->deaths <= config_.max_retries;
  }
  if (exit.again) {
    found->number = 0;
    found->since.reset();
  } else {
    entries_.erase(found);
  }
  return exit;
}

std::vector<EndValidation> ValidationQueue::stop(const std::string& reason) {
  if (std::exchange(stopped_, true)) return {};
  std::vector<EndValidation> ended;
  std::erase_if(entries_, [](const Validation& each) { return each.number == 0; });
  for (Validation& each : entries_) {
    each.ending = true;
    ended.push_back({each.number, EndMode::kill, reason});
  }
  return ended;
}

bool ValidationQueue::settled() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const Validation& each) { return each.ending; });
}

bool ValidationQueue::any_process() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Validation& each) { return each.number != 0; });
}

std::string ValidationQueue::words() const {
  constexpr std::size_t named_max = 3;
  std::string text;
  std::size_t open = 0;
  for (const Validation& each : entries_) {
    if (each.ending) continue;
    if (open++ < named_max) text += (text.empty() ? "" : ", ") + each.checkpoint;
  }
  return open > named_max ? text + " and " + std::to_string(open - named_max) + " more" : text;
}

}  // namespace headway::control
