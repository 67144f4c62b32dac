#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

namespace headway::cluster {

/// A connection that has not proven that it has the token.
class Stranger {
 public:
  virtual ~Stranger() = default;
  /// Whether it lives and has proven nothing yet.
  virtual bool unproven() const = 0;
  /// Whether anything came from it.
  virtual bool has_spoken() const = 0;
  virtual void close() = 0;
};

/// The strangers at a listening port: at most so many at a time. Where there are as many, others
/// wait, but not for those that take their time: the oldest of these make way.
class Strangers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Strangers(std::size_t most) : most_(most) {}

  /// Whether one more may come: nothing if so, else when to ask again.
  std::optional<Time> full_until(Time now);
  void admit(std::shared_ptr<Stranger> newcomer, Time now);
  std::size_t count();

  /// What each has when no more are admitted. A node sends its first bytes with the last of
  /// its connection, and proves itself within three more trips.
  static constexpr std::chrono::milliseconds silence_max{100};
  static constexpr std::chrono::milliseconds proof_max{1000};

 private:
  struct Admitted {
    std::shared_ptr<Stranger> stranger;
    Time at;

    Time overdue() const { return at + (stranger->has_spoken() ? proof_max : silence_max); }
  };

  void forget_known();

  std::size_t most_;
  std::deque<Admitted> strangers_;  ///< The oldest first.
};

}  // namespace headway::cluster
