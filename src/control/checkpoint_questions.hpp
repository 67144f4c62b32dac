#pragma once

#include "control/events.hpp"
#include "control/outbox.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headway::control {

/// What ranks of the current attempt have asked about the kept checkpoints and have no answer to
/// yet.
class CheckpointQuestions {
 public:
  /// Those of the last attempt are nobody's.
  void begin_attempt(Outbox& out);
  void ask(const CheckpointsAsked& asked, Outbox& out);
  /// The question waits no longer: it gets what there is. False when it has its answer.
  bool time_is_over(std::int64_t number);

  /// Takes out those that can be answered: what they ask for is committed (`committed_before`:
  /// every report below it has come to its end) and, where they want that, validated.
  std::vector<CheckpointsAsked> take_due(std::int64_t committed_before, bool validated);

 private:
  struct Question {
    std::int64_t number = 0;  ///< Of its timer.
    CheckpointsAsked asked;
    bool over = false;
  };
  std::vector<Question> open_;
  std::int64_t asked_ = 0;
};

}  // namespace headway::control
