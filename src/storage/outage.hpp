#pragma once

#include "storage/remote/retry.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headway::storage {

/// What operations that follow each other know together of a storage that does not answer: they
/// have one patience. It runs from the first failure after the last answer. As long as there is
/// more to come, each operation is tried at least once, so that the storage's return is noticed; at
/// the end, nothing is begun once the patience is used up. Any thread.
class Outage {
 public:
  using Told = std::function<void(const std::string& text)>;

  /// `told` hears, once and on any thread, that the end waits for storage; it must not throw.
  Outage(std::shared_ptr<Patience> patience, Told told) : patience_(std::move(patience)), told_(std::move(told)) {}

  /// All that is still done is the last of its kind.
  void begin_end();
  /// The user is tired of it: the patience is five seconds, of which some may be used up.
  void hurry();

  /// The outage of the work that this thread does; null: none is known, each operation is alone.
  static Outage* current();

  /// Makes it the current one of this thread.
  class Scope {
   public:
    explicit Scope(Outage* outage);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Outage* before_;
  };

  // For with_retries:

  /// Why nothing is tried any more; unset while something is.
  std::optional<Error> over(const RetryPolicy& policy);
  /// Storage has answered, if only with a refusal.
  void answered();
  /// It has not. Returns when it failed first.
  std::chrono::milliseconds failed(const RetryPolicy& policy, const Error& error);

 private:
  struct Failing {
    std::chrono::milliseconds since;
    std::string message;
  };

  std::chrono::milliseconds limit(const RetryPolicy& policy) const;
  /// The words for the user, if it is time for them.
  std::string news(const RetryPolicy& policy);

  std::shared_ptr<Patience> patience_;
  Told told_;
  std::mutex mutex_;
  std::optional<Failing> failing_;
  bool ends_ = false;
  bool hurries_ = false;
  bool has_told_ = false;
};

}  // namespace headway::storage
