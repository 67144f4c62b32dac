#pragma once

#include <boost/asio.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>

namespace headway::cluster {

/// A fixture with an event loop that the test runs.
struct BoundedLoop {
  /// Runs the loop until `done`, for a bounded time.
  template <class F>
  void run_until(F done) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); !done();) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
      loop.run_one_for(std::chrono::milliseconds(100));
      loop.restart();
    }
  }

  boost::asio::io_context loop{1};
};

}  // namespace headway::cluster
