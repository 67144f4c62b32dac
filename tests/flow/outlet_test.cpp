#include "flow/outlet.hpp"

#include <arrow/api.h>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <vector>

namespace headway::flow {
namespace {

/// An outlet and its client, which has had one batch.
struct ServedClient {
  explicit ServedClient(std::int64_t rows) {
    BOOST_TEST(outlet->open({}, nullptr).has_value());
    std::vector<wire::Frame> frames = outlet->take_messages();
    taking.emplace(feed::TakingEnd::map(frames[0].fds[0], places_bytes, std::move(frames[0].fds[1])).value());
    const auto schema = arrow::schema({arrow::field("x", arrow::int8())});
    const auto column = arrow::MakeArrayFromScalar(arrow::Int8Scalar(1), rows).ValueOrDie();
    const auto batch = arrow::RecordBatch::Make(schema, rows, {column});
    const SlotBatch planned = SlotBatch::plan(*schema, std::span(&batch, 1)).ValueOrDie();
    BOOST_TEST(outlet->deal(planned, 1, {}, [](bool) {}).value());
    held = taking->take().value();
  }

  static constexpr std::uint64_t places = 64;
  const std::uint64_t places_bytes = feed::DealingEnd::bytes_for(places);
  Budget budget{1 << 20};
  std::shared_ptr<Outlet> outlet = Outlet::make(budget, 1, [] {}).value();
  std::optional<feed::TakingEnd> taking;
  feed::BatchInSlot held;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(outlet)

BOOST_AUTO_TEST_CASE(a_client_that_uses_a_small_batch_needs_the_next_though_memory_is_full) {
  BOOST_TEST(ServedClient(1000).outlet->is_needed(false));
}

BOOST_AUTO_TEST_CASE(a_client_that_uses_a_large_batch_needs_no_other_while_memory_is_full) {
  BOOST_TEST(!ServedClient(20'000'000).outlet->is_needed(false));
}

/// Another client may wait for its batch, and this one keep a large one until then.
BOOST_AUTO_TEST_CASE(a_client_among_others_that_uses_a_large_batch_needs_the_next) {
  BOOST_TEST(ServedClient(20'000'000).outlet->is_needed(true));
}

BOOST_AUTO_TEST_CASE(a_client_that_keeps_a_large_batch_and_waits_needs_the_next) {
  ServedClient client(20'000'000);
  BOOST_TEST(client.taking->begin_wait());
  BOOST_TEST(client.outlet->is_needed(false));
}

BOOST_AUTO_TEST_CASE(a_client_that_has_let_go_of_a_large_batch_needs_the_next) {
  ServedClient client(20'000'000);
  BOOST_TEST((client.taking->give_back(client.held.slot) == feed::TakingEnd::Returned::quietly));
  BOOST_TEST(client.outlet->is_needed(false));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
