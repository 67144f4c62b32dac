#include "storage/remote/retry.hpp"

#include "storage/outage.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>

namespace headway::storage {

namespace {

using std::chrono::milliseconds;

double number_from_environment(const char* name, double standard, double least, double most) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return standard;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  return *end == '\0' && number == number ? std::clamp(number, least, most) : standard;
}

class RealPatience : public Patience {
 public:
  milliseconds now() override {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }

  bool wait(milliseconds time) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this, before = woken_] { return lost_ || woken_ != before; });
    return !lost_;
  }

  void wake() override {
    {
      const std::lock_guard lock(mutex_);
      ++woken_;
    }
    changed_.notify_all();
  }

  double random() override {
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>(0, 1)(generator_);
  }

  void set_lost(bool lost) {
    {
      const std::lock_guard lock(mutex_);
      lost_ = lost;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool lost_ = false;
  std::int64_t woken_ = 0;
  std::mt19937 generator_{std::random_device{}()};
};

/// Left to the process's end: a thread may still wait on it then.
const std::shared_ptr<RealPatience>& the_real_one() {
  static const auto* one = new std::shared_ptr<RealPatience>(std::make_shared<RealPatience>());
  return *one;
}

}  // namespace

RetryPolicy policy_from_environment() {
  RetryPolicy policy;
  policy.attempts_max =
      static_cast<int>(number_from_environment("HEADWAY_STORAGE_ATTEMPTS", policy.attempts_max, 1, 100));
  const double total_s = number_from_environment("HEADWAY_STORAGE_RETRY_S", 60, 0, 86'400);
  policy.total_max = milliseconds(static_cast<std::int64_t>(total_s * 1000));
  return policy;
}

std::shared_ptr<Patience> real_patience() { return the_real_one(); }

void lose_patience() { the_real_one()->set_lost(true); }

void regain_patience() { the_real_one()->set_lost(false); }

Result<void> with_retries(const RetryPolicy& policy, Patience& patience, const std::function<Result<void>()>& attempt) {
  Outage* const outage = Outage::current();
  milliseconds first_failure{};
  milliseconds longest = policy.wait_first;
  for (int made = 1;; ++made) {
    if (outage != nullptr) {
      if (auto over = outage->over(policy)) return std::move(*over);
    }
    Result<void> outcome = attempt();
    if (outcome || outcome.error().kind != ErrorKind::unavailable) {
      if (outage != nullptr) outage->answered();
      return outcome;
    }
    const milliseconds now = patience.now();
    if (made == 1) first_failure = now;
    if (outage != nullptr) first_failure = outage->failed(policy, outcome.error());
    const auto wait =
        milliseconds(static_cast<std::int64_t>(static_cast<double>(longest.count()) * (0.5 + patience.random() / 2)));
    const bool again = made < policy.attempts_max && now + wait - first_failure <= policy.total_max;
    if (!again || !patience.wait(wait)) {
      if (made == 1) return outcome;
      char spent[64];
      std::snprintf(spent, sizeof spent, " (tried %d times within %.1f s of the first failure)", made,
                    static_cast<double>((now - first_failure).count()) / 1000);
      return Error{outcome.error().kind, outcome.error().message + spent};
    }
    longest = std::min(longest * 2, policy.wait_longest);
  }
}

}  // namespace headway::storage
