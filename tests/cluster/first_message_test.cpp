#include "cluster/first_message.hpp"
#include "cluster/fake_channel.hpp"

#include <boost/test/unit_test.hpp>

/// The first message of whoever calls, and the limit until which it may come.
namespace headway::cluster {
namespace {

/// A caller whose limit passes at once.
struct LateCaller {
  boost::asio::io_context loop;
  std::shared_ptr<FakeChannel> channel = std::make_shared<FakeChannel>();
  int heard = 0;
  int ended = 0;

  LateCaller() {
    await_first_message(
        loop, channel, std::chrono::milliseconds(0), [this](const auto&, const wire::Frame&) { ++heard; },
        [this](const Error&) { ++ended; });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(a_first_message)

BOOST_FIXTURE_TEST_CASE(that_comes_as_the_limit_passes_is_heard_and_the_limit_is_not, LateCaller) {
  // Before the timer's handler, which the loop may have at hand by now.
  boost::asio::steady_timer passed(loop, std::chrono::milliseconds(0));
  passed.async_wait([](const boost::system::error_code&) {});
  boost::asio::post(loop, [&] { channel->hear(Refused{"a message"}); });
  loop.run();
  BOOST_TEST(heard + ended == 1);
  BOOST_TEST(channel->closed == (ended == 1));
}

BOOST_FIXTURE_TEST_CASE(that_comes_after_the_limit_is_not_heard_and_the_end_is_told_once, LateCaller) {
  loop.run();
  BOOST_TEST(channel->closed);
  channel->hear(Refused{"a message"});
  channel->break_off(std::nullopt);
  BOOST_TEST(heard == 0);
  BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
