#include "flow/functions/function_pools.hpp"

#include "flow/functions/function_fixture.hpp"

#include <boost/test/unit_test.hpp>

BOOST_FIXTURE_TEST_SUITE(function_pools, headway::flow::FunctionFixture)

using headway::flow::Budget;
using headway::flow::FunctionPools;
using headway::flow::FunctionSpec;
using headway::flow::numbers;

namespace {

/// Returns so many bytes for a row.
FunctionSpec returns(std::int64_t bytes) {
  return headway::flow::FunctionFixture::spec("import numpy\nf = lambda b: {\"y\": numpy.zeros((len(b[\"x\"]), " +
                                              std::to_string(bytes / 8) + "))}");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_pool_without_a_user_keeps_at_most_half_of_the_budget) {
  Budget small(64 << 20);
  headway::flow::FunctionHostLaunch counted = launch();
  counted.budget = &small;
  FunctionPools pools(counted);
  auto used = pools.pool(returns(33 << 20)).ValueOrDie();
  BOOST_TEST(run(*used, numbers(0, 1)).ok());
  pools.trim();
  BOOST_TEST(small.taken() >= 33 << 20);  // It has a user.
  used.reset();
  pools.trim();
  BOOST_TEST(small.taken() == 0);
}

BOOST_AUTO_TEST_CASE(the_pool_whose_last_use_is_longest_ago_goes_first) {
  Budget small(64 << 20);
  headway::flow::FunctionHostLaunch counted = launch();
  counted.budget = &small;
  FunctionPools pools(counted);
  const FunctionSpec first = returns(1 << 20);
  const FunctionSpec second = returns(13 << 20);
  const auto use = [&](const FunctionSpec& spec) { return run(*pools.pool(spec).ValueOrDie(), numbers(0, 1)).ok(); };
  BOOST_TEST(use(first));
  const std::int64_t of_first = small.taken();
  BOOST_TEST(use(second));
  const std::int64_t of_both = small.taken();
  BOOST_TEST(use(first));
  BOOST_TEST(small.taken() == of_both);
  pools.trim();
  BOOST_TEST(small.taken() == of_first);
}

BOOST_AUTO_TEST_CASE(the_pool_that_was_used_last_may_keep_half_of_the_budget) {
  Budget small(64 << 20);
  headway::flow::FunctionHostLaunch counted = launch();
  counted.budget = &small;
  FunctionPools pools(counted);
  const auto use = [&](const FunctionSpec& spec) { return run(*pools.pool(spec).ValueOrDie(), numbers(0, 1)).ok(); };
  BOOST_TEST(use(returns(1 << 20)));
  const std::int64_t of_first = small.taken();
  BOOST_TEST(use(returns(20 << 20)));
  const std::int64_t of_last = small.taken() - of_first;
  BOOST_TEST(of_last > small.bytes() / 4);
  BOOST_TEST(of_last < small.bytes() / 2);
  pools.trim();
  BOOST_TEST(small.taken() == of_last);
}

BOOST_AUTO_TEST_SUITE_END()
