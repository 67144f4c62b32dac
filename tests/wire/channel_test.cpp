#include "wire/channel.hpp"

#include "wire/blocking_channel.hpp"
#include "wire/fd_passing.hpp"
#include "wire/sockets.hpp"

#include <thread>

/// The event loop's end of a stream, against a peer that blocks.
namespace headway::wire {

namespace {

namespace asio = boost::asio;

/// A channel on a separate loop; the test runs the loop and holds the other end.
struct Fixture {
  Fixture() {
    Ends socket = make_socket();
    peer = std::move(socket.b);
    channel = std::make_shared<Channel>(loop, std::move(socket.a), test_kinds);
    channel->start([this](Frame frame) { return hear(std::move(frame)); },
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

  Result<void> hear(Frame frame) {
    frames.push_back(std::move(frame));
    return on_each ? on_each() : Result<void>();
  }

  asio::io_context loop;
  Descriptor peer;
  std::shared_ptr<Channel> channel;
  std::vector<Frame> frames;
  std::function<Result<void>()> on_each;  ///< What the handler does with each frame.
  int closed = 0;
  std::optional<Error> why;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(channel_suite)

BOOST_FIXTURE_TEST_CASE(frames_queued_before_the_loop_runs_leave_in_order, Fixture) {
  constexpr int count = 5'000;
  for (int i = 0; i < count; ++i) channel->send(plain(std::to_string(i)));
  int in_order = 0;
  std::thread reader([&] {
    for (int i = 0; i < count; ++i) {
      const Result<std::optional<Frame>> frame = receive_frame(peer.get(), test_kinds);
      if (!frame || !*frame || (**frame).json != plain(std::to_string(i)).json) break;
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
  channel->send(plain("x", blob));
  bool arrived = false;
  std::thread writer([&] { (void)send_frame(peer.get(), plain("x", blob)); });
  std::thread reader([&] {
    const Result<std::optional<Frame>> frame = receive_frame(peer.get(), test_kinds);
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
  channel->send(plain_with("x", list_of(std::move(pipe.b))));
  std::thread reader([&] {
    const Result<std::optional<Frame>> frame = receive_frame(peer.get(), test_kinds);
    if (frame && *frame && (**frame).fds.size() == 1) {
      (void)!::write((**frame).fds[0].get(), "x", 1);
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
  for (const char* json : {"1", "2", "3"}) BOOST_TEST(send_frame(peer.get(), plain(json)).has_value());
  peer.close();
  loop.run();
  BOOST_REQUIRE(frames.size() == 3U);
  BOOST_TEST(frames[2].json == plain("3").json);
  BOOST_TEST(closed == 1);
  BOOST_TEST(!why.has_value());
  BOOST_TEST(channel->closed());
}

BOOST_AUTO_TEST_CASE(the_peer_is_gone_in_the_middle_of_a_message_and_that_is_no_orderly_end) {
  const std::string whole = head_of(plain("x", std::make_shared<const std::string>("blob"))) + "blob";
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
  channel->send(plain_with("x", list_of(std::move(pipe.b))));
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
  channel->send(plain_with("x", list_of(std::move(pipe.b))));
  BOOST_TEST(at_end(pipe.a.get()));
}

BOOST_FIXTURE_TEST_CASE(the_peer_goes_while_a_large_frame_is_sent, Fixture) {
  channel->send(plain("x", big_blob()));
  channel->send(plain("x"));
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
  BOOST_TEST(send_frame(peer.get(), plain("none")).has_value());
  BOOST_TEST(send_frame(peer.get(), plain_with("one", list_of(std::move(first.b)))).has_value());
  const auto abc = std::make_shared<const std::string>("abc");
  BOOST_TEST(
      send_frame(peer.get(), plain_with("two", list_of(std::move(second.a), std::move(second.b)), abc)).has_value());
  peer.close();
  loop.run();
  BOOST_REQUIRE(frames.size() == 3U);
  BOOST_TEST(frames[0].fds.empty());
  BOOST_REQUIRE(frames[1].fds.size() == 1U);
  BOOST_REQUIRE(frames[2].fds.size() == 2U);
  const Descriptor writer = std::move(frames[1].fds[0]);
  write_all(writer.get(), "x");
  char byte = 0;
  BOOST_TEST(::read(first.a.get(), &byte, 1) == 1);
  BOOST_TEST((::fcntl(writer.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_FIXTURE_TEST_CASE(an_exception_in_the_handler_ends_the_channel_with_its_words, Fixture) {
  on_each = []() -> Result<void> { throw std::runtime_error("no such rank"); };
  BOOST_TEST(send_frame(peer.get(), plain("x")).has_value());
  loop.run();
  BOOST_TEST(closed == 1);
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(why->message == "an unexpected exception: no such rank");
  BOOST_TEST(at_end(peer.get()));
}

BOOST_FIXTURE_TEST_CASE(an_error_of_the_handler_ends_the_channel_with_it, Fixture) {
  on_each = [] { return Error{ErrorKind::corrupted, "that makes no sense"}; };
  for (int i = 0; i < 2; ++i) BOOST_TEST(send_frame(peer.get(), plain("x")).has_value());
  loop.run();
  BOOST_TEST(frames.size() == 1U);
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(why->message == "that makes no sense");
}

/// What the handler holds lives as long as the handler runs.
BOOST_FIXTURE_TEST_CASE(a_handler_may_close_its_own_channel, Fixture) {
  Ends socket = make_socket();
  std::weak_ptr<Channel> own;
  std::string seen;
  {
    auto second = std::make_shared<Channel>(loop, std::move(socket.a), test_kinds);
    own = second;
    const auto held = std::make_shared<std::string>("still here");
    second->start(
        [second, held, &seen](const Frame&) {
          second->close();
          seen = *held;
          return Result<void>();
        },
        [](const std::optional<Error>&) { BOOST_ERROR("the owner has closed it"); });
  }
  BOOST_TEST(send_frame(socket.b.get(), plain("x")).has_value());
  BOOST_TEST(send_frame(socket.b.get(), plain("x")).has_value());
  while (!own.expired()) loop.run_one();
  BOOST_TEST(seen == "still here");
}

BOOST_AUTO_TEST_CASE(a_channel_whose_peer_has_gone_already_hears_of_it_after_start_has_returned) {
  asio::io_context loop;
  Ends socket = make_socket();
  socket.b.close();
  const auto channel = std::make_shared<Channel>(loop, std::move(socket.a), test_kinds);
  bool started = false;
  int closed = 0;
  asio::post(loop, [&] {
    channel->start([](const Frame&) { return Result<void>(); },
                   [&](const std::optional<Error>&) {
                     BOOST_TEST(started);
                     ++closed;
                   });
    started = true;
  });
  loop.run();
  BOOST_TEST(closed == 1);
}

BOOST_FIXTURE_TEST_CASE(a_message_of_a_kind_that_may_not_be_long_ends_the_channel_before_its_bytes_come, Fixture) {
  const std::string json = R"({"is":"small","fields":{}})";
  write_all(peer.get(), bytes_of({static_cast<std::uint32_t>(json.size()), 0, 1 << 20}) + json);
  loop.run();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(why->message == "small of 26 + 1048576 bytes is beyond the bounds (1048576 + 0 bytes)");
}

BOOST_FIXTURE_TEST_CASE(a_frame_that_cannot_be_sent_ends_the_channel_with_words_and_not_within_send, Fixture) {
  Frame frame = plain("x", std::make_shared<const std::string>("raw"));
  frame.bounds = control_bounds;
  channel->send(std::move(frame));
  BOOST_TEST(closed == 0);
  loop.run();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST((why->kind == ErrorKind::corrupted));
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_takes_nothing_ends_the_channel_once_the_bound_is_reached, Fixture) {
  Frame large = plain(std::string(std::size_t{40} << 20, 'x'));
  int sent = 0;
  for (; sent < 20 && closed == 0; ++sent) {
    channel->send(plain(large.json));
    loop.poll();
  }
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST((why->kind == ErrorKind::unavailable));
  BOOST_TEST(why->message.starts_with("the peer takes nothing: "), why->message);
  BOOST_TEST(sent < 12);  // One is being written, seven wait, one is above the bound.
}

BOOST_FIXTURE_TEST_CASE(descriptors_of_a_refused_message_do_not_leak, Fixture) {
  const std::size_t before = open_descriptors();
  const std::string json = R"({"is":"small","fields":{}})";
  Ends pipe = make_pipe();
  const std::vector<Fd> two = list_of(std::move(pipe.a), std::move(pipe.b));
  const std::string bytes = bytes_of({static_cast<std::uint32_t>(json.size()), 2, 0}) + json;
  BOOST_TEST(send_with_fds(peer.get(), bytes, two, 0) == static_cast<ssize_t>(bytes.size()));
  loop.run();
  BOOST_REQUIRE(why.has_value());
  BOOST_TEST(open_descriptors() == before + 1);  // Two of the pipe's, less the channel's own.
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
