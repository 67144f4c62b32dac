#pragma once

#include "dashboard/overview.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace headway::dashboard {

/// What a client of /api/events is to be sent next.
struct Frame {
  std::int64_t number = 0;
  std::shared_ptr<const std::string> text;  ///< As it goes over the wire.
};

/// The newest overview, and the last ones before it. A client is sent what has changed since the
/// one that it has; what came in between while it was slow it never sees. Any thread.
class EventBoard {
 public:
  static constexpr std::size_t kept_max = 64;

  /// Publishes it under the next number, if it shows anything new.
  void publish(Overview overview);
  /// `wake` is called after each, on the thread that publishes. It must not publish.
  void on_news(std::function<void()> wake);

  /// Null until there is one.
  std::shared_ptr<const Overview> newest() const;
  /// For a client that has `seen`: 0 for none yet, which gets the whole. A number that is not kept,
  /// or that another driver gave, gets "reload" and the whole. Its text is null when there is
  /// nothing newer.
  Frame next(std::int64_t seen);

 private:
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Overview>> kept_;
  /// The frame that leads from `first` to the newest; several clients want the same.
  struct Made {
    std::int64_t from = -1;
    Frame frame;
  } made_;
  std::function<void()> wake_;
};

}  // namespace headway::dashboard
