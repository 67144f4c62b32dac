#include "experiment_bench.hpp"

#include <boost/test/unit_test.hpp>

/// What the front end decides about reports, and when it is asked.
namespace headway::control::tune {

BOOST_AUTO_TEST_SUITE(front_end_decisions_suite)

BOOST_AUTO_TEST_CASE(the_front_end_is_asked_about_each_report) {
  ExperimentSpec spec = with_asha();
  spec.asks = true;
  Bench bench(spec);
  bench.begin();
  bench.suggest(2);
  bench.report(0, 0.5);
  BOOST_TEST(bench.in<AnswerTrial>(bench.last).empty());
  BOOST_TEST(bench.in<AskVerdict>(bench.last).size() == 1U);
  bench.handle(FrontDecided{0, 7, Verdict::stop, "of another report"});
  BOOST_TEST(bench.last.empty());
  bench.handle(FrontDecided{0, 1, Verdict::stop, "enough"});
  BOOST_TEST(bench.in<AnswerTrial>(bench.last).front().decision.reason == "enough");
}

/// As in Ray: stop rules first, whoever has them. The scheduler has heard of trial 0 as of one that
/// has ended.
BOOST_AUTO_TEST_CASE(the_front_end_is_asked_before_the_scheduler) {
  ExperimentSpec spec = with_asha();
  spec.asks = true;
  Bench bench(spec);
  bench.begin();
  bench.suggest(3);
  bench.report(0, 0.5);
  bench.handle(FrontDecided{0, 1, Verdict::stop, "enough"});
  bench.report(1, 0.4);
  BOOST_TEST(bench.in<AskVerdict>(bench.last).size() == 1U);
  bench.handle(FrontDecided{1, 1, Verdict::go_on, ""});
  const Decision decision = bench.in<AnswerTrial>(bench.last).front().decision;
  BOOST_TEST((decision.verdict == Verdict::stop));
  BOOST_TEST(decision.reason.starts_with("ASHA: "));
}

BOOST_AUTO_TEST_CASE(the_front_end_is_not_asked_about_what_ends_anyway) {
  ExperimentSpec spec;
  spec.asks = true;
  spec.stop = {{"score", 0.5}};
  Bench bench(spec);
  bench.begin();
  bench.suggest(1);
  bench.report(0, 0.6);
  BOOST_TEST(bench.in<AskVerdict>(bench.last).empty());
  BOOST_TEST((bench.in<AnswerTrial>(bench.last).front().decision.verdict == Verdict::stop));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
