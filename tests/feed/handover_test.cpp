#include "feed/handover.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headway::feed {
namespace {

/// Both ends of the rings of a stream, in memory as the two processes have it.
struct TwoEnds {
  static constexpr std::uint64_t places = 4;

  TwoEnds() {
    BOOST_REQUIRE_EQUAL(ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    BOOST_REQUIRE(mapped != MAP_FAILED);
    head = {static_cast<std::byte*>(mapped), bytes};
    dealing.emplace(DealingEnd::make(head).value());
    taking.emplace(TakingEnd::map(memory, bytes, dealing->share_doorbell().value()).value());
  }
  ~TwoEnds() { munmap(head.data(), head.size()); }
  TwoEnds(const TwoEnds&) = delete;
  TwoEnds& operator=(const TwoEnds&) = delete;

  void deal(std::int64_t slot) {
    BatchInSlot batch;
    batch.slot = slot;
    dealing->deal(batch);
  }
  std::vector<std::int64_t> collected() {
    std::vector<std::int64_t> slots;
    const Result<void> all = dealing->collect([&](std::int64_t slot) {
      slots.push_back(slot);
      return Result<void>();
    });
    BOOST_REQUIRE(all);
    return slots;
  }
  bool is_rung() const {
    pollfd look{taking->doorbell(), POLLIN, 0};
    return ::poll(&look, 1, 0) == 1;
  }

  const std::uint64_t bytes = DealingEnd::bytes_for(places);
  wire::Fd memory{memfd_create("rings", MFD_CLOEXEC)};
  std::span<std::byte> head;
  std::optional<DealingEnd> dealing;
  std::optional<TakingEnd> taking;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(the_rings_of_a_stream, TwoEnds)

BOOST_AUTO_TEST_CASE(give_batches_in_the_order_in_which_they_were_dealt) {
  BOOST_TEST(!taking->take());
  for (std::int64_t slot = 0; slot < 10; ++slot) {
    deal(slot);
    deal(slot + 100);
    BOOST_TEST(dealing->ahead() == 2U);
    BOOST_TEST(taking->take().value().slot == slot);
    BOOST_TEST(taking->take().value().slot == slot + 100);
  }
  BOOST_TEST(!taking->take());
}

BOOST_AUTO_TEST_CASE(ring_only_for_a_client_that_waits) {
  deal(1);
  BOOST_TEST(!is_rung());
  BOOST_TEST(!taking->begin_wait());  // A batch is there.
  taking->end_wait();
  BOOST_TEST(taking->take().value().slot == 1);
  BOOST_TEST(taking->begin_wait());
  deal(2);
  BOOST_TEST(is_rung());
  deal(3);
  taking->end_wait();
  BOOST_TEST(!is_rung());
}

BOOST_AUTO_TEST_CASE(let_the_dealer_wait_until_the_client_has_taken_what_was_dealt) {
  constexpr std::int64_t batches = 20'000;
  std::atomic<std::int64_t> most{0};
  std::thread dealer([&] {
    for (std::int64_t slot = 0; slot < batches; ++slot) {
      if (dealing->ahead() >= places) dealing->wait_until_ahead(places / 2, [] { return false; });
      most = std::max(most.load(), static_cast<std::int64_t>(dealing->ahead()));
      deal(slot);
    }
  });
  std::int64_t next = 0;
  while (next < batches) {
    if (const auto batch = taking->take()) {
      BOOST_REQUIRE_EQUAL(batch->slot, next++);
      continue;
    }
    pollfd look{taking->doorbell(), POLLIN, 0};
    if (taking->begin_wait()) BOOST_REQUIRE_EQUAL(::poll(&look, 1, -1), 1);
    taking->end_wait();
  }
  dealer.join();
  BOOST_TEST(most.load() < static_cast<std::int64_t>(places));
}

BOOST_AUTO_TEST_CASE(end_the_dealers_wait_when_they_are_rung) {
  for (std::uint64_t i = 0; i < places; ++i) deal(1);
  std::atomic<bool> closed = false;
  std::thread dealer([&] { dealing->wait_until_ahead(0, [&] { return closed.load(); }); });
  closed = true;
  dealing->ring();
  dealer.join();
  BOOST_TEST(dealing->ahead() == places);
}

BOOST_AUTO_TEST_CASE(wake_the_dealer_at_whatever_the_client_does_while_it_waits_for_more_than_room) {
  deal(1);
  deal(2);
  std::atomic<int> asked = 0;
  std::thread dealer([&] {
    dealing->wait_until([&] {
      ++asked;
      return dealing->ahead() == 0 && (dealing->client_waits() || collected() == std::vector<std::int64_t>{1});
    });
  });
  BOOST_TEST(taking->take().value().slot == 1);
  BOOST_TEST(taking->take().value().slot == 2);
  BOOST_CHECK(taking->give_back(1) == TakingEnd::Returned::quietly);
  dealer.join();
  BOOST_TEST(asked > 0);
  std::thread again([&] { dealing->wait_until([&] { return dealing->client_waits(); }); });
  BOOST_TEST(taking->begin_wait());
  again.join();
}

BOOST_AUTO_TEST_CASE(take_slots_back_until_there_is_no_room) {
  for (std::int64_t slot = 0; slot < 512; ++slot) BOOST_CHECK(taking->give_back(slot) == TakingEnd::Returned::quietly);
  BOOST_CHECK(taking->give_back(512) == TakingEnd::Returned::by_message);
  const auto slots = collected();
  BOOST_REQUIRE_EQUAL(slots.size(), 512U);
  BOOST_TEST(slots.back() == 511);
  BOOST_CHECK(taking->give_back(512) == TakingEnd::Returned::quietly);
  dealing->finish();
  BOOST_CHECK(taking->give_back(513) == TakingEnd::Returned::announce);
  BOOST_TEST(collected() == (std::vector<std::int64_t>{512, 513}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(say_when_the_client_has_damaged_them) {
  auto* const rings = reinterpret_cast<HandoverRings*>(head.data());
  rings->taken = 5;
  BOOST_TEST(dealing->ahead() > dealing->places());
  dealing->wait_until_ahead(1, [] { return false; });  // It does not wait for ever.
  rings->returned = 1'000'000;
  const Result<void> collected = dealing->collect([](std::int64_t) { return Result<void>(); });
  BOOST_TEST(!collected);
}

BOOST_AUTO_TEST_CASE(are_not_mapped_where_they_are_shorter_than_they_say) {
  auto* const rings = reinterpret_cast<HandoverRings*>(head.data());
  rings->places = 1 << 20;
  const auto refused = TakingEnd::map(memory, bytes, dealing->share_doorbell().value());
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().message.find("damaged") != std::string::npos);
  BOOST_TEST(!TakingEnd::map(memory, bytes * 1000, dealing->share_doorbell().value()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::feed
