#include "worker/step_clock.hpp"

#include <boost/test/unit_test.hpp>

/// What is counted of a training loop.
namespace headway::worker {

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t training = 7;
constexpr std::int64_t evaluation = 8;
constexpr std::int64_t optimizer = 1;

/// A loop with a clock moved by hand.
struct Loop {
  StepClock clock{0, 2};
  Time now{};

  bool step(Duration took, std::int64_t of = optimizer) {
    now += took;
    return clock.stepped(of, now);
  }
  LoopProgress seen() { return clock.take(now).value(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(step_clock)

BOOST_AUTO_TEST_CASE(steps_batches_and_samples_are_counted_and_the_last_batch_may_be_smaller) {
  Loop loop;
  loop.clock.begin_pass(training, {3, 4, 8, 30});
  for (int i = 0; i < 4; ++i) {
    loop.clock.next_batch(training);
    BOOST_TEST(loop.step(100ms) == false);
  }
  LoopProgress seen = loop.seen();
  BOOST_TEST(seen.steps == 4);
  BOOST_TEST(seen.at_s == 0.3);
  BOOST_TEST(seen.step_times.count == 3);
  BOOST_TEST(seen.epoch->epoch == 3);
  BOOST_TEST(seen.epoch->batch == 3);  // The loop is still at the fourth one.
  BOOST_TEST(seen.epoch->batches.value() == 4);
  BOOST_TEST(seen.samples.value() == 24);
  loop.clock.end_pass(training);
  loop.step(1s);
  seen = loop.seen();
  BOOST_TEST(seen.epoch->batch == 4);
  BOOST_TEST(seen.batches == 4);
  BOOST_TEST(seen.samples.value() == 30);
}

BOOST_AUTO_TEST_CASE(an_evaluation_in_the_middle_leaves_the_epoch_as_it_is) {
  Loop loop;
  loop.clock.begin_pass(training, {0, 10, 4, 40});
  for (int i = 0; i < 3; ++i) {
    loop.clock.next_batch(training);
    loop.step(10ms);
  }
  loop.clock.begin_pass(evaluation, {0, 2, 4, 8});
  for (int i = 0; i < 2; ++i) loop.clock.next_batch(evaluation);
  loop.clock.end_pass(evaluation);
  loop.clock.next_batch(training);
  loop.step(10ms);
  const LoopProgress seen = loop.seen();
  BOOST_TEST(seen.epoch->batch == 3);
  BOOST_TEST(seen.epoch->batches.value() == 10);
  BOOST_TEST(seen.batches == 3);
}

BOOST_AUTO_TEST_CASE(several_optimizers_make_one_step_and_one_that_replaces_another_is_counted) {
  Loop loop;
  for (int i = 0; i < 5; ++i) {
    loop.step(10ms, 1);
    loop.step(10ms, 2);
  }
  BOOST_TEST(loop.seen().steps == 5);
  for (int i = 0; i < 5; ++i) loop.step(10ms, 3);
  BOOST_TEST(loop.seen().steps == 9);
}

BOOST_AUTO_TEST_CASE(progress_is_due_each_second_and_of_a_thousand_ranks_each_ten) {
  Loop loop;
  loop.step(0ms);
  BOOST_TEST(!loop.step(999ms));
  BOOST_TEST(loop.step(1ms));
  (void)loop.seen();
  BOOST_TEST(!loop.clock.take(loop.now).has_value());
  BOOST_TEST(!loop.step(999ms));
  BOOST_TEST(loop.step(1ms));
  BOOST_TEST((StepClock::interval(0, 1000) == 1s));
  BOOST_TEST((StepClock::interval(1, 2) == 1s));
  BOOST_TEST((StepClock::interval(999, 1000) == 10s));
}

BOOST_AUTO_TEST_CASE(waiting_counts_for_the_step_in_which_it_was) {
  Loop loop;
  loop.clock.see_collectives(true);
  loop.clock.in_collectives(5s);  // Before the first step, whose time is not known.
  loop.step(5s);
  loop.clock.in_collectives(30ms);
  loop.clock.waited(40ms);
  loop.step(100ms);
  LoopProgress seen = loop.seen();
  BOOST_TEST(seen.waited_s == 0.07);
  BOOST_TEST(seen.step_times.total_s == 0.1);
  BOOST_TEST(seen.sees_collectives);
  loop.clock.see_collectives(false);  // Another model, in which they cannot be seen.
  loop.clock.in_collectives(10ms);
  loop.step(100ms);
  BOOST_TEST(!loop.seen().sees_collectives);
}

BOOST_AUTO_TEST_CASE(collectives_do_not_count_as_seen_once_a_step_had_none) {
  Loop loop;
  loop.clock.see_collectives(true);
  for (int i = 0; i < 3; ++i) {
    loop.clock.in_collectives(1ms);
    loop.step(100ms);
  }
  BOOST_TEST(loop.seen().sees_collectives);
  loop.step(100ms);
  BOOST_TEST(!loop.seen().sees_collectives);
}

BOOST_AUTO_TEST_CASE(passes_count_for_the_steps_before_they_were_known_and_for_those_after) {
  Loop loop;
  for (int step = 0; step < 5; ++step) loop.step(1s);
  BOOST_TEST(!loop.clock.take(loop.now)->forward_s.has_value());
  loop.clock.passes_took(0.2, 0.3);
  loop.step(1s);
  loop.clock.passes_took(0.4, 0.5);
  loop.step(1s);
  BOOST_TEST(loop.clock.steps() == 7);
  const auto progress = loop.clock.take(loop.now);
  BOOST_TEST(progress->step_times.count == 6);
  BOOST_TEST(progress->forward_s.value() == 5 * 0.2 + 0.4, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(progress->backward_s.value() == 5 * 0.3 + 0.5, boost::test_tools::tolerance(1e-9));
  loop.clock.passes_took({}, {});
  loop.clock.passes_took(0.4, 0.5);
  loop.step(1s);
  BOOST_TEST(!loop.clock.take(loop.now)->forward_s.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::worker
