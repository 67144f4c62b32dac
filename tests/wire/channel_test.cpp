#include "wire/channel.hpp"

#include "wire/blocking_channel.hpp"
#include "wire/sockets.hpp"

#include <thread>

/// The event loop's end of a stream, against a peer that blocks.
namespace headway::wire {

namespace {

namespace asio = boost::asio;

/// A channel on a loop of its own; the test runs the loop and holds the other end.
struct Fixture {
  Fixture() {
    Ends socket = make_socket();
    peer = std::move(socket.b);
    channel = std::make_shared<Channel>(loop, socket.a.release());
    channel->start([this](Frame frame) { frames.push_back(std::move(frame)); },
                   [this](std::optional<Error> error) {
                     ++closed;
                     why = std::move(error);
                   });
  }
  ~Fixture() {
    channel->close();
    loop.restart();
    loop.run();
  }

  asio::io_context loop;
  Descriptor peer;
  std::shared_ptr<Channel> channel;
  std::vector<Frame> frames;
  int closed = 0;
  std::optional<Error> why;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(channel_suite)

BOOST_FIXTURE_TEST_CASE(frames_queued_before_the_loop_runs_leave_in_order, Fixture) {
  constexpr int count = 5'000;
  for (int i = 0; i < count; ++i) channel->send({std::to_string(i), nullptr, {}});
  int in_order = 0;
  std::thread reader([&] {
    for (int i = 0; i < count; ++i) {
      const Result<std::optional<Frame>> frame = receive_frame(peer.get());
      if (!frame || !*frame || (**frame).json != std::to_string(i)) break;
      ++in_order;
    }
    peer.close();
  });
  loop.run();
  reader.join();
  BOOST_TEST(in_order == count);
  BOOST_TEST(closed == 1);
  BOOST_TEST(!why.has_value());
}

BOOST_FIXTURE_TEST_CASE(large_blobs_go_both_ways_at_once, Fixture) {
  const Blob blob = big_blob();
  channel->send({"{}", blob, {}});
  bool arrived = false;
  std::thread writer([&] { (void)send_frame(peer.get(), {"{}", blob, {}}); });
  std::thread reader([&] {
    const Result<std::optional<Frame>> frame = receive_frame(peer.get());
    arrived = frame && *frame && *(**frame).blob == *blob;
    writer.join();
    peer.close();
  });
  loop.run();
  reader.join();
  BOOST_TEST(arrived);
  BOOST_REQUIRE(frames.size() == 1U);
  BOOST_TEST((*frames[0].blob == *blob));
}

BOOST_FIXTURE_TEST_CASE(descriptors_are_sent_and_then_closed_here, Fixture) {
  Ends pipe = make_pipe();
  const int sent = pipe.b.get();
  channel->send({"{}", nullptr, {pipe.b.release()}});
  std::thread reader([&] {
    const Result<std::optional<Frame>> frame = receive_frame(peer.get());
    if (frame && *frame && (**frame).fds.size() == 1) {
      (void)!::write((**frame).fds[0], "x", 1);
      ::close((**frame).fds[0]);
    }
    peer.close();
  });
  loop.run();
  reader.join();
  BOOST_TEST(!is_open(sent));
  char byte = 0;
  BOOST_TEST(::read(pipe.a.get(), &byte, 1) == 1);
  BOOST_TEST(at_end(pipe.a.get()));
}

BOOST_FIXTURE_TEST_CASE(all_that_the_peer_said_comes_before_the_news_that_it_is_gone, Fixture) {
  for (const char* json : {"1", "2", "3"}) BOOST_TEST(send_frame(peer.get(), {json, nullptr, {}}).has_value());
  peer.close();
  loop.run();
  BOOST_REQUIRE(frames.size() == 3U);
  BOOST_TEST(frames[2].json == "3");
  BOOST_TEST(closed == 1);
  BOOST_TEST(!why.has_value());
  BOOST_TEST(channel->closed());
}

BOOST_AUTO_TEST_CASE(the_peer_is_gone_in_the_middle_of_a_message_and_that_is_no_orderly_end) {
  const std::string whole = bytes_of({2, 0, 4}) + "{}blob";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    Fixture end;
    write_all(end.peer.get(), std::string_view(whole).substr(0, length));
    end.peer.close();
    end.loop.run();
    BOOST_TEST(end.frames.empty());
    BOOST_TEST(end.closed == 1);
    BOOST_REQUIRE(end.why.has_value());
    BOOST_TEST((end.why->kind == ErrorKind::unknown_outcome));
  }
}

BOOST_FIXTURE_TEST_CASE(a_header_beyond_the_bounds_ends_the_stream, Fixture) {
  write_all(peer.get(), bytes_of({json_size_max + 1, 0, 0}));
  loop.run();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST((why->kind == ErrorKind::corrupted));
  BOOST_TEST(at_end(peer.get()));
}

BOOST_FIXTURE_TEST_CASE(closing_here_tells_the_peer_and_not_the_owner_and_drops_the_queue, Fixture) {
  Ends pipe = make_pipe();
  channel->send({"{}", nullptr, {pipe.b.release()}});
  channel->close();
  loop.run();
  BOOST_TEST(closed == 0);
  BOOST_TEST(at_end(peer.get()));
  BOOST_TEST(at_end(pipe.a.get()));
}

BOOST_FIXTURE_TEST_CASE(what_is_sent_after_the_end_is_dropped_with_its_descriptors, Fixture) {
  peer.close();
  loop.run();
  Ends pipe = make_pipe();
  channel->send({"{}", nullptr, {pipe.b.release()}});
  BOOST_TEST(at_end(pipe.a.get()));
}

BOOST_FIXTURE_TEST_CASE(the_peer_goes_while_a_large_frame_is_sent, Fixture) {
  channel->send({"{}", big_blob(), {}});
  channel->send({"{}", nullptr, {}});
  std::thread reader([&] {
    std::array<char, 4096> some{};
    (void)!::read(peer.get(), some.data(), some.size());
    peer.close();
  });
  loop.run();
  reader.join();
  BOOST_TEST(closed == 1);
}

BOOST_FIXTURE_TEST_CASE(descriptors_arrive_with_their_messages_and_no_others, Fixture) {
  Ends first = make_pipe();
  Ends second = make_pipe();
  BOOST_TEST(send_frame(peer.get(), {"none", nullptr, {}}).has_value());
  BOOST_TEST(send_frame(peer.get(), {"one", nullptr, {first.b.get()}}).has_value());
  BOOST_TEST(
      send_frame(peer.get(), {"two", std::make_shared<const std::string>("abc"), {second.a.get(), second.b.get()}})
          .has_value());
  peer.close();
  loop.run();
  BOOST_REQUIRE(frames.size() == 3U);
  BOOST_TEST(frames[0].fds.empty());
  BOOST_REQUIRE(frames[1].fds.size() == 1U);
  BOOST_REQUIRE(frames[2].fds.size() == 2U);
  const Descriptor writer(frames[1].fds[0]);
  const Descriptor others[] = {Descriptor(frames[2].fds[0]), Descriptor(frames[2].fds[1])};
  write_all(writer.get(), "x");
  char byte = 0;
  BOOST_TEST(::read(first.a.get(), &byte, 1) == 1);
  BOOST_TEST((::fcntl(writer.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
