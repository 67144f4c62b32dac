#include "control/sync_schedule.hpp"

#include <utility>

namespace headway::control {

bool SyncSchedule::ask() {
  if (!under_way_) return true;
  again_ = true;
  return false;
}

std::int64_t SyncSchedule::begin() {
  again_ = complete_ = false;
  under_way_ = begun_++;
  return *under_way_;
}

SyncSchedule::Ended SyncSchedule::end(std::int64_t number, const std::optional<std::string>& error) {
  if (under_way_ != number) return {};
  under_way_.reset();
  complete_ = !error;
  Ended ended;
  ended.again = std::exchange(again_, false);
  if (std::exchange(last_error_, error.value_or("")) != error.value_or("")) ended.warning = error;
  return ended;
}

void SyncSchedule::give_up() {
  under_way_.reset();
  again_ = complete_ = false;
}

}  // namespace headway::control
