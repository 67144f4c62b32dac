#include "wire/frame_reader.hpp"

#include "wire/outbox.hpp"
#include "wire/sockets.hpp"

/// Frames out of bytes, in whatever pieces these come.
namespace headway::wire {

namespace {

/// Gives the reader `bytes`, at most `piece` at a time: the frames, or the first error.
Result<std::vector<Frame>> read(FrameReader& reader, std::string_view bytes, std::size_t piece) {
  std::vector<Frame> frames;
  while (!bytes.empty()) {
    const std::span<char> space = reader.space();
    const std::size_t count = std::min({space.size(), bytes.size(), piece});
    std::copy_n(bytes.begin(), count, space.begin());
    bytes.remove_prefix(count);
    Result<std::optional<Frame>> frame = reader.take(count);
    if (!frame) return frame.error();
    if (*frame) frames.push_back(std::move(**frame));
  }
  return frames;
}

std::string bytes_of_frame(const Frame& frame) { return head_of(frame) + (frame.blob ? *frame.blob : ""); }

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_reader_suite)

BOOST_AUTO_TEST_CASE(frames_come_out_whole_whatever_the_pieces) {
  const auto blob = std::make_shared<const std::string>(std::string(200'000, 'b'));
  const std::string bytes = bytes_of_frame(plain("one")) + bytes_of_frame(plain(std::string(10'000, 'x'), blob)) +
                            bytes_of_frame(plain("three"));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    FrameReader reader(test_kinds);
    const auto frames = read(reader, bytes, piece);
    BOOST_REQUIRE(frames.has_value());
    BOOST_REQUIRE(frames->size() == 3U);
    BOOST_TEST((*frames)[1].json == plain(std::string(10'000, 'x')).json);
    BOOST_TEST((*(*frames)[1].blob == *blob));
    BOOST_TEST(!(*frames)[2].blob);
    BOOST_TEST(!reader.in_frame());
  }
}

BOOST_AUTO_TEST_CASE(memory_grows_with_the_bytes_that_have_come_and_not_by_what_the_header_claims) {
  FrameReader reader(test_kinds);
  const std::string json = plain("x").json;
  std::size_t come = sizeof(FrameHeader) + json.size();
  BOOST_REQUIRE(read(reader, bytes_of({static_cast<std::uint32_t>(json.size()), 0, blob_size_max}) + json, come));
  std::size_t largest = 0;
  for (int i = 0; i < 40; ++i) {
    const std::size_t space = reader.space().size();
    BOOST_TEST(space <= std::max<std::size_t>(come, 64 << 10));
    largest = std::max(largest, space);
    const std::size_t count = std::min<std::size_t>(space, 16 << 10);
    come += count;
    BOOST_REQUIRE(reader.take(count).has_value());
  }
  BOOST_TEST(largest <= std::size_t{1} << 20);
}

BOOST_AUTO_TEST_CASE(the_kind_is_checked_before_long_json_is_read) {
  FrameReader reader(test_kinds);
  const std::string start = R"({"is":"small","fields":{"text":")" + std::string(8 << 10, 'x');
  const auto refused = read(reader, bytes_of({64 << 20, 0, 0}) + start, start.size());
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message.starts_with("small of 67108864 + 0 bytes is beyond the bounds"));
}

BOOST_AUTO_TEST_CASE(who_has_not_proven_itself_gets_no_memory) {
  FrameReader reader(test_kinds, 1000);
  const auto refused = read(reader, bytes_of({2000, 0, 0}), 16);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message == "a message of 2000 bytes is too long from a peer that has not proven itself");
}

BOOST_AUTO_TEST_CASE(raw_bytes_that_many_frames_share_count_once_against_the_bound_of_a_queue) {
  Outbox outbox;
  const Blob blob = big_blob();
  for (int i = 0; i < 10'000; ++i) BOOST_REQUIRE(outbox.push(plain("x", blob)).has_value());
  for (int i = 0; i < 10'000; ++i) BOOST_REQUIRE(outbox.pop().blob == blob);
  BOOST_TEST(outbox.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
