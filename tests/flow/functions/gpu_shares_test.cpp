#include "flow/functions/gpu_shares.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {

BOOST_AUTO_TEST_SUITE(gpu_shares)

BOOST_AUTO_TEST_CASE(workers_get_different_gpus_while_there_are_some) {
  GpuShares shares({"4", "GPU-a", "7"});
  const auto first = shares.take(1);
  const auto second = shares.take(1);
  BOOST_TEST(first.visible().value() == "4");
  BOOST_TEST(second.visible().value() == "GPU-a");
  BOOST_TEST(shares.take(1).visible().value() == "7");
  BOOST_TEST(shares.take(2).visible().value() == "4,7");
}

BOOST_AUTO_TEST_CASE(what_a_worker_had_goes_to_the_next_one) {
  GpuShares shares({"0", "1"});
  auto first = shares.take(1);
  const auto second = shares.take(1);
  first = GpuShares::Share();
  BOOST_TEST(shares.take(1).visible().value() == "0");
  auto moved = shares.take(0.5);
  const GpuShares::Share kept = std::move(moved);
  BOOST_TEST(kept.visible().value() == "0");
  BOOST_TEST(shares.take(0.25).visible().value() == "0");
}

BOOST_AUTO_TEST_CASE(no_share_leaves_all_gpus_in_sight) {
  GpuShares some({"0"});
  BOOST_TEST(!some.take(0).visible().has_value());
  GpuShares none({});
  BOOST_TEST(!none.take(1).visible().has_value());
}

BOOST_AUTO_TEST_CASE(a_function_has_as_many_workers_as_have_gpus) {
  const GpuShares shares({"0", "1", "2"});
  BOOST_TEST(shares.workers_for(1) == 3);
  BOOST_TEST(shares.workers_for(2) == 1);
  BOOST_TEST(shares.workers_for(4) == 0);
  BOOST_TEST(shares.workers_for(0.5) == 6);
  BOOST_TEST(shares.workers_for(0.1) == 30);
  BOOST_TEST(shares.workers_for(0.7) == 3);
  BOOST_TEST(GpuShares({}).workers_for(0.5) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
