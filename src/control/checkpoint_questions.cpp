#include "control/checkpoint_questions.hpp"

#include <algorithm>

namespace headway::control {

void CheckpointQuestions::begin_attempt(Outbox& out) {
  for (const Question& question : open_) out.cancel_timer({TimerPurpose::question, question.number});
  open_.clear();
}

void CheckpointQuestions::ask(const CheckpointsAsked& asked, Outbox& out) {
  open_.push_back({asked_++, asked});
  if (asked.timeout_s) {
    out.set_timer({TimerPurpose::question, open_.back().number}, from_seconds(*asked.timeout_s));
  }
}

bool CheckpointQuestions::time_is_over(std::int64_t number) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Question& question) { return question.number == number; });
  if (found == open_.end()) return false;
  found->over = true;
  return true;
}

std::vector<CheckpointsAsked> CheckpointQuestions::take_due(std::int64_t committed_before, bool validated) {
  std::vector<CheckpointsAsked> due;
  std::erase_if(open_, [&](const Question& question) {
    const CheckpointsAsked& asked = question.asked;
    const bool is_due = question.over || (asked.reports <= committed_before && (!asked.validated || validated));
    if (is_due) due.push_back(asked);
    return is_due;
  });
  return due;
}

}  // namespace headway::control
