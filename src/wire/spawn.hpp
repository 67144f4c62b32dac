#pragma once

#include <headway/result.hpp>

#include <boost/asio.hpp>

#include <exception>
#include <utility>

/// The only way to start a coroutine. An exception that leaves a coroutine ends what it served.
namespace headway::wire {

/// The words of an exception that nobody expected. `internal`.
Error error_of(const std::exception_ptr& failure);

/// Starts `coroutine` once the caller has returned to the loop: its handlers never run within the
/// call. If an exception leaves the coroutine (its own, or one of a handler that it called),
/// `on_failure(Error)` is called, which must end what the coroutine served: its channel, pipe or
/// acceptor. A coroutine that returns has ended it already.
template <class Executor, class Coroutine, class OnFailure>
void spawn(const Executor& executor, Coroutine coroutine, OnFailure on_failure) {
  auto on_end = [on_failure = std::move(on_failure)](const std::exception_ptr& failure) mutable {
    if (failure) on_failure(error_of(failure));
  };
  // On the loop's own thread co_spawn alone would run the coroutine here, up to its first wait.
  boost::asio::post(executor, [executor, coroutine = std::move(coroutine), on_end = std::move(on_end)]() mutable {
    boost::asio::co_spawn(executor, std::move(coroutine), std::move(on_end));
  });
}

}  // namespace headway::wire
