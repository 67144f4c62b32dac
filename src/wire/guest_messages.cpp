#include "wire/guest_messages.hpp"

#include <cmath>

namespace headway::wire {
namespace {

constexpr int workers_most = 1'000'000;

bool is_amount(double amount) { return std::isfinite(amount) && amount >= 0; }

bool are_amounts(const Resources& resources) {
  for (const auto& [name, amount] : resources) {
    if (!is_amount(amount)) return false;
  }
  return true;
}

template <class M>
Result<void> check_order(const M&) {
  return {};
}

Result<void> check_order(const GuestAcquire& message) {
  const bool counts = message.workers_min >= 1 && message.workers_min <= message.workers_max &&
                      message.workers_max <= workers_most &&
                      message.selectors.size() <= static_cast<std::size_t>(message.workers_max);
  if (counts && are_amounts(message.hard) && are_amounts(message.beside) && is_amount(message.advised_cpus)) return {};
  return Error{ErrorKind::corrupted, "a claim of " + std::to_string(message.workers_min) + " to " +
                                         std::to_string(message.workers_max) + " workers that makes no sense"};
}

}  // namespace

Result<void> check_message(const ToHost& message) {
  return std::visit([](const auto& what) { return check_order(what); }, message);
}

}  // namespace headway::wire
