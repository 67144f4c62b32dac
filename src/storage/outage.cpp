#include "storage/outage.hpp"

#include <algorithm>
#include <utility>

namespace headway::storage {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds hurry_limit{5000};

thread_local Outage* current_outage = nullptr;

std::string seconds_of(milliseconds time) { return std::to_string((time.count() + 999) / 1000) + " s"; }

}  // namespace

Outage* Outage::current() { return current_outage; }

Outage::Scope::Scope(Outage* outage) : before_(std::exchange(current_outage, outage)) {}

Outage::Scope::~Scope() { current_outage = before_; }

void Outage::begin_end() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
}

void Outage::hurry() {
  {
    const std::lock_guard lock(mutex_);
    hurries_ = true;
  }
  patience_->wake();
}

milliseconds Outage::limit(const RetryPolicy& policy) const {
  return hurries_ ? std::min(policy.total_max, hurry_limit) : policy.total_max;
}

std::optional<Error> Outage::over(const RetryPolicy& policy) {
  std::string words;
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    if (!ends_ || !failing_) return std::nullopt;
    if (patience_->now() - failing_->since > limit(policy)) {
      error = Error{ErrorKind::unavailable, failing_->message + " (storage has not answered for " +
                                                seconds_of(patience_->now() - failing_->since) +
                                                ", so nothing more is tried)"};
    } else {
      words = news(policy);
    }
  }
  if (!words.empty()) told_(words);
  return error;
}

void Outage::answered() {
  const std::lock_guard lock(mutex_);
  failing_.reset();
}

milliseconds Outage::failed(const RetryPolicy& policy, const Error& error) {
  std::string words;
  milliseconds since{};
  {
    const std::lock_guard lock(mutex_);
    if (!failing_) failing_ = Failing{patience_->now(), error.message};
    since = failing_->since;
    words = news(policy);
  }
  if (!words.empty()) told_(words);
  return since;
}

std::string Outage::news(const RetryPolicy& policy) {
  if (!ends_ || !told_ || std::exchange(has_told_, true)) return "";
  const milliseconds left = failing_->since + limit(policy) - patience_->now();
  return "storage does not answer (" + failing_->message + "); the run's last files wait for it for " +
         seconds_of(std::max(left, milliseconds(0))) + " more. Ctrl-C shortens that";
}

}  // namespace headway::storage
