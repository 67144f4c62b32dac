#include "control/attempt.hpp"

#include "control/pieces.hpp"

/// One attempt's group, barriers and end, without a controller.
namespace headway::control {
namespace {

Attempt training_attempt(int workers) {
  Attempt attempt;
  attempt.begin(std::vector<Slot>(static_cast<std::size_t>(workers), slot_on("node-a")), Time{1s});
  attempt.begin_training(Time{2s});
  return attempt;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attempt_suite)

BOOST_AUTO_TEST_CASE(attempts_are_counted_over_drivers) {
  Attempt attempt;
  attempt.count_from(4);
  BOOST_TEST(attempt.number() == 4);
  BOOST_TEST(attempt.of_this_driver() == 0);
  BOOST_TEST(attempt.gone());
  attempt.begin({slot_on("node-a")}, Time{1s});
  BOOST_TEST(attempt.number() == 5);
  BOOST_TEST(attempt.of_this_driver() == 1);
  BOOST_TEST(!attempt.gone());
  BOOST_TEST(!attempt.any_trained());
  BOOST_TEST(attempt.is(5, 0));
  BOOST_TEST(!attempt.is(4, 0));
  BOOST_TEST(!attempt.is(5, 1));
}

BOOST_AUTO_TEST_CASE(a_new_attempt_has_nothing_of_the_last_one) {
  Attempt attempt = training_attempt(2);
  attempt.keep_echo(failure_of(FailureSource::group, ErrorKind::user_code, "an echo"));
  attempt.hooks_called(Time{3s});
  attempt.told_to_end(Time{4s});
  attempt.told_to_end(Time{5s});
  BOOST_TEST((*attempt.ending_since() == Time{4s}));
  BOOST_TEST(!attempt.arrive({1, 0, 0, "barrier", 0}, Time{3s}));
  attempt.end();
  attempt.begin({slot_on("node-a")}, Time{9s});
  BOOST_TEST(!attempt.echo());
  BOOST_TEST(!attempt.hook_since());
  BOOST_TEST(!attempt.ending_since());
  BOOST_TEST(attempt.collectives().empty());
  BOOST_TEST(attempt.any_trained());
}

BOOST_AUTO_TEST_CASE(a_broadcast_is_released_when_every_rank_has_come) {
  Attempt attempt = training_attempt(2);
  BOOST_TEST(!attempt.arrive({1, 1, 0, "broadcast", 1}, Time{3s}));
  BOOST_TEST((attempt.collectives_since() == Time{3s}));
  BOOST_TEST(!attempt.collectives().complete());
  BOOST_TEST(!attempt.arrive({1, 0, 0, "broadcast", 1}, Time{4s}));
  BOOST_TEST(attempt.collectives().complete());
  const ReleaseCollective release = attempt.release_collective(PreemptionInfo{}, Time{4s});
  BOOST_TEST(release.index == 0);
  BOOST_TEST(release.root.value() == 1);
  BOOST_TEST(!release.preemption.has_value());
  BOOST_TEST(attempt.group().all_in(RankPhase::training));
  BOOST_TEST(attempt.collectives().index() == 1);
}

BOOST_AUTO_TEST_CASE(only_who_asks_hears_of_a_preemption) {
  Attempt attempt = training_attempt(1);
  BOOST_TEST(!attempt.arrive({1, 0, 0, "get_preemption_info", 0}, Time{3s}));
  BOOST_TEST(attempt.release_collective(PreemptionInfo{}, Time{3s}).preemption.has_value());
}

BOOST_AUTO_TEST_CASE(calls_that_differ_are_a_failure) {
  Attempt attempt = training_attempt(2);
  BOOST_TEST(!attempt.arrive({1, 0, 0, "barrier", 0}, Time{3s}));
  const auto failure = attempt.arrive({1, 1, 0, "broadcast", 0}, Time{3s});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST((failure->ranks.at(0).kind == RankFailureKind::different_collective));
}

BOOST_AUTO_TEST_CASE(a_call_out_of_order_is_a_defect_of_ours) {
  Attempt attempt = training_attempt(2);
  const auto failure = attempt.arrive({1, 0, 3, "barrier", 0}, Time{3s});
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST((failure->kind == ErrorKind::internal));
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_rank_that_has_returned) {
  Attempt attempt = training_attempt(2);
  BOOST_TEST(!attempt.unmatched_collective(Time{3s}).has_value());
  attempt.group().enter(1, RankPhase::returned, Time{3s});
  BOOST_TEST(!attempt.unmatched_collective(Time{3s}).has_value());
  BOOST_TEST(!attempt.arrive({1, 0, 0, "barrier", 0}, Time{3s}).has_value());
  BOOST_TEST(attempt.unmatched_collective(Time{3s}).has_value());
  BOOST_TEST(attempt.returned() == std::vector<int>{1});
  BOOST_TEST(!attempt.nobody_trains());
  attempt.group().enter(0, RankPhase::raised, Time{4s});
  BOOST_TEST(attempt.nobody_trains());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
