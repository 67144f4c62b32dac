#include "wire/blocking_channel.hpp"

#include "wire/fd_passing.hpp"
#include "wire/sockets.hpp"

#include <thread>

/// Frames between processes without an event loop, and streams that break.
namespace headway::wire {

namespace {

Frame must_receive(int fd) {
  Result<std::optional<Frame>> frame = receive_frame(fd, test_kinds);
  if (!frame) BOOST_FAIL(frame.error().message);
  BOOST_REQUIRE(frame->has_value());
  return std::move(**frame);
}

/// What a reader finds after `bytes` and the end of the stream.
ErrorKind kind_after(std::string_view bytes) {
  Ends socket = make_socket();
  write_all(socket.a.get(), bytes);
  socket.a.close();
  const Result<std::optional<Frame>> frame = receive_frame(socket.b.get(), test_kinds);
  BOOST_REQUIRE(!frame.has_value());
  return frame.error().kind;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(blocking_channel_suite)

BOOST_AUTO_TEST_CASE(frames_arrive_whole_and_in_order_and_then_the_end) {
  Ends socket = make_socket();
  const auto blob = std::make_shared<const std::string>("raw\0bytes", 9);
  BOOST_TEST(send_frame(socket.a.get(), plain("one")).has_value());
  BOOST_TEST(send_frame(socket.a.get(), plain("two", blob)).has_value());
  BOOST_TEST(send_frame(socket.a.get(), plain("three")).has_value());
  socket.a.close();
  BOOST_TEST(must_receive(socket.b.get()).json == plain("one").json);
  const Frame second = must_receive(socket.b.get());
  BOOST_TEST(second.json == plain("two").json);
  BOOST_TEST(*second.blob == *blob);
  BOOST_TEST(!must_receive(socket.b.get()).blob);
  const Result<std::optional<Frame>> end = receive_frame(socket.b.get(), test_kinds);
  BOOST_REQUIRE(end.has_value());
  BOOST_TEST(!end->has_value());
}

BOOST_AUTO_TEST_CASE(a_blob_much_larger_than_the_sockets_buffer_arrives_unchanged) {
  Ends socket = make_socket();
  const Blob blob = big_blob();
  bool sent = false;
  std::thread writer([&] { sent = send_frame(socket.a.get(), plain("x", blob)).has_value(); });
  const Frame frame = must_receive(socket.b.get());
  writer.join();
  BOOST_TEST(sent);
  BOOST_TEST((*frame.blob == *blob));
}

BOOST_AUTO_TEST_CASE(descriptors_travel_with_their_frame_and_close_on_exec) {
  Ends socket = make_socket();
  Ends first = make_pipe();
  Ends second = make_pipe();
  BOOST_TEST(send_frame(socket.a.get(), plain("x")).has_value());
  BOOST_TEST(send_frame(socket.a.get(), plain_with("x", list_of(std::move(first.b), std::move(second.b)))).has_value());
  BOOST_TEST(must_receive(socket.b.get()).fds.empty());
  Frame frame = must_receive(socket.b.get());
  BOOST_REQUIRE(frame.fds.size() == 2U);
  BOOST_TEST((::fcntl(frame.fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  write_all(frame.fds[1].get(), "2");
  write_all(frame.fds[0].get(), "1");
  frame.fds.clear();
  char byte = 0;
  BOOST_TEST(::read(first.a.get(), &byte, 1) == 1);
  BOOST_TEST(byte == '1');
  BOOST_TEST(at_end(first.a.get()));
}

BOOST_AUTO_TEST_CASE(a_message_that_comes_without_its_descriptors_is_refused) {
  BOOST_TEST((kind_after(bytes_of({static_cast<std::uint32_t>(plain("").json.size()), 2, 0}) + plain("").json) ==
              ErrorKind::corrupted));
}

BOOST_AUTO_TEST_CASE(the_peer_is_gone_in_the_middle_of_a_message_wherever_that_is) {
  const std::string whole = head_of(plain("x", std::make_shared<const std::string>("blob"))) + "blob";
  for (std::size_t length = 1; length < whole.size(); ++length) {
    BOOST_TEST((kind_after(std::string_view(whole).substr(0, length)) == ErrorKind::unknown_outcome));
  }
}

BOOST_AUTO_TEST_CASE(a_header_beyond_the_bounds_is_refused_before_its_bytes_are_awaited) {
  for (const FrameHeader& header :
       {FrameHeader{json_size_max + 1, 0, 0}, FrameHeader{0, 0, unbounded.blob_max + 1}, FrameHeader{0, 9, 0}}) {
    Ends socket = make_socket();
    write_all(socket.a.get(), bytes_of(header));
    const Result<std::optional<Frame>> frame = receive_frame(socket.b.get(), test_kinds);
    BOOST_REQUIRE(!frame.has_value());
    BOOST_TEST((frame.error().kind == ErrorKind::corrupted));
  }
}

BOOST_AUTO_TEST_CASE(descriptors_of_frames_that_are_refused_do_not_leak) {
  const std::size_t before = open_descriptors();
  {
    Ends socket = make_socket();
    Ends pipe = make_pipe();
    const std::string unknown = R"({"is":"unknown","fields":{}})";
    for (const std::string& bytes :
         {bytes_of({json_size_max + 1, 1, 0}), bytes_of({static_cast<std::uint32_t>(unknown.size()), 1, 0}) + unknown,
          bytes_of({static_cast<std::uint32_t>(plain("").json.size()), 0, 0}) + plain("").json}) {
      Ends stream = make_socket();
      const std::vector<Fd> one = list_of(Fd(::dup(pipe.a.get())));
      BOOST_TEST(send_with_fds(stream.a.get(), bytes, one, 0) == static_cast<ssize_t>(bytes.size()));
      BOOST_TEST(!receive_frame(stream.b.get(), test_kinds).has_value());
    }
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_frame_beyond_the_bounds_is_not_begun) {
  Ends socket = make_socket();
  std::vector<Fd> many;
  for (std::uint32_t i = 0; i <= fd_count_max; ++i) many.emplace_back(::dup(socket.a.get()));
  const Result<void> sent = send_frame(socket.a.get(), plain_with("x", std::move(many)));
  BOOST_REQUIRE(!sent.has_value());
  socket.a.close();
  BOOST_TEST(at_end(socket.b.get()));
}

BOOST_AUTO_TEST_CASE(sending_to_a_peer_that_is_gone_is_an_error_and_no_signal) {
  Ends socket = make_socket();
  socket.b.close();
  const Result<void> sent = send_frame(socket.a.get(), plain("x"));
  BOOST_REQUIRE(!sent.has_value());
  BOOST_TEST((sent.error().kind == ErrorKind::unknown_outcome));
}

BOOST_AUTO_TEST_CASE(the_peer_goes_while_a_large_frame_is_sent) {
  Ends socket = make_socket();
  const Blob blob = big_blob();
  Result<void> sent;
  std::thread writer([&] { sent = send_frame(socket.a.get(), plain("x", blob)); });
  std::array<char, 4096> some{};
  BOOST_TEST(::read(socket.b.get(), some.data(), some.size()) > 0);
  socket.b.close();
  writer.join();
  BOOST_REQUIRE(!sent.has_value());
  BOOST_TEST((sent.error().kind == ErrorKind::unknown_outcome));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
