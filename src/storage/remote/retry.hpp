#pragma once

#include <headway/result.hpp>

#include <chrono>
#include <functional>
#include <memory>

/// Trying again what storage could not do for now: errors of the kind `unavailable`, and no other.
namespace headway::storage {

/// How patient to be. The environment sets the first two for a process: HEADWAY_STORAGE_ATTEMPTS (1
/// to 100, default 5) and HEADWAY_STORAGE_RETRY_S (seconds, default 60).
struct RetryPolicy {
  int attempts_max = 5;  ///< The first one included.
  /// No further attempt is begun so long after the first failure.
  std::chrono::milliseconds total_max{60'000};
  /// Doubled with each failure; the wait is a random half to whole of it.
  std::chrono::milliseconds wait_first{200};
  std::chrono::milliseconds wait_longest{10'000};
};

/// What the environment asks for; values out of range count as their nearest allowed one, what is
/// no number as the default.
RetryPolicy policy_from_environment();

/// Time as retries need it; tests have their own, so that no test sleeps.
class Patience {
 public:
  virtual ~Patience() = default;
  virtual std::chrono::milliseconds now() = 0;
  /// Returns after so long, or at once with false when nobody wants to wait any more.
  virtual bool wait(std::chrono::milliseconds time) = 0;
  /// All who wait return at once.
  virtual void wake() {}
  /// Evenly from 0 to 1.
  virtual double random() = 0;
};

/// The real one; one for the process.
std::shared_ptr<Patience> real_patience();

/// Ends all waits of the real one, now and until it is regained: what fails has failed. For a
/// runtime that is shut down.
void lose_patience();
void regain_patience();

/// Calls `attempt` until it succeeds, fails for good, or `policy` is used up. The last error then
/// says how often it was tried. Operations within an `Outage` have one patience together.
Result<void> with_retries(const RetryPolicy& policy, Patience& patience, const std::function<Result<void>()>& attempt);

}  // namespace headway::storage
