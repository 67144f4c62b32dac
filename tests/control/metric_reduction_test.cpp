#include "control/metric_reduction.hpp"
#include "control/rig.hpp"

#include <cmath>
#include <limits>

/// Metrics over the ranks of a report.
namespace headway::control {
namespace {

ReducedMetrics reduced(const ReductionPlan& plan, const std::vector<JsonObject>& ranks) {
  std::vector<const JsonObject*> all;
  for (const JsonObject& metrics : ranks) all.push_back(&metrics);
  return reduce(plan, all);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metric_reduction_suite)

BOOST_AUTO_TEST_CASE(all_numbers_have_one_way_and_what_is_no_number_is_rank_0_s) {
  const std::vector<JsonObject> ranks{
      {{"loss", 1.0}, {"eval", {{"acc", 1}}}, {"name", "a"}, {"good", true}},
      {{"loss", 4.0}, {"eval", {{"acc", 2}}}, {"name", "b"}, {"good", false}, {"only here", 3}}};
  const JsonObject mean{{"loss", 2.5}, {"eval", {{"acc", 1.5}}}, {"name", "a"}, {"good", true}};
  BOOST_TEST((reduced({Reduce::mean, {}}, ranks).metrics == mean));
  const JsonObject largest{{"loss", 4.0}, {"eval", {{"acc", 2}}}, {"name", "a"}, {"good", true}};
  BOOST_TEST((reduced({Reduce::max, {}}, ranks).metrics == largest));
}

BOOST_AUTO_TEST_CASE(metrics_that_are_named_have_their_ways_and_the_others_are_rank_0_s) {
  const std::vector<JsonObject> ranks{{{"loss", 1.0}, {"samples", 10}, {"eval", {{"acc", 0.5}}}, {"epoch", 3}},
                                      {{"loss", 4.0}, {"samples", 20}, {"eval", {{"acc", 0.25}}}, {"epoch", 4}}};
  const ReductionPlan plan{
      {}, {{"loss", Reduce::mean}, {"samples", Reduce::sum}, {"eval/acc", Reduce::min}, {"los", Reduce::max}}};
  const ReducedMetrics found = reduced(plan, ranks);
  const JsonObject expected{{"loss", 2.5}, {"samples", 30}, {"eval", {{"acc", 0.25}}}, {"epoch", 3}};
  BOOST_TEST((found.metrics == expected));
  BOOST_TEST(found.unknown == std::vector<std::string>{"los"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ranks_without_the_metric_do_not_count_and_nan_is_kept) {
  const std::vector<JsonObject> ranks{{{"x", 2}}, {{"x", "none"}}, {}, {{"x", 4}}};
  BOOST_TEST(reduced({Reduce::mean, {}}, ranks).metrics.at("x").as_double() == 3.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Reduce how : {Reduce::mean, Reduce::sum, Reduce::min, Reduce::max}) {
    BOOST_TEST(std::isnan(reduced({how, {}}, {{{"x", 1}}, {{"x", nan}}, {{"x", 3}}}).metrics.at("x").as_double()));
  }
}

BOOST_AUTO_TEST_CASE(a_sum_of_integers_is_one_as_long_as_64_bits_hold_it) {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  BOOST_TEST(reduced({Reduce::sum, {}}, {{{"n", 2}}, {{"n", 3}}}).metrics.at("n").as_int64() == 5);
  BOOST_TEST(reduced({Reduce::sum, {}}, {{{"n", large}}, {{"n", 1}}}).metrics.at("n").is_double());
}

BOOST_AUTO_TEST_CASE(integers_are_compared_as_integers_and_a_mean_of_large_numbers_is_finite) {
  const std::int64_t large = std::int64_t{1} << 53;
  const std::vector<JsonObject> ranks{{{"n", large}}, {{"n", large + 1}}};
  BOOST_TEST(reduced({Reduce::max, {}}, ranks).metrics.at("n").as_int64() == large + 1);
  BOOST_TEST(reduced({Reduce::min, {}}, ranks).metrics.at("n").as_int64() == large);
  const double almost = 1.7e308;
  const std::vector<JsonObject> floats{{{"x", almost}}, {{"x", almost}}};
  BOOST_TEST(reduced({Reduce::mean, {}}, floats).metrics.at("x").as_double() == almost);
}

BOOST_AUTO_TEST_CASE(the_mean_of_an_integer_that_all_ranks_have_is_that_integer) {
  BOOST_TEST(reduced({Reduce::mean, {}}, {{{"epoch", 3}}, {{"epoch", 3}}}).metrics.at("epoch").as_int64() == 3);
  BOOST_TEST(reduced({Reduce::mean, {}}, {{{"n", 2}}, {{"n", 4}}}).metrics.at("n").as_double() == 3.0);
  BOOST_TEST(reduced({Reduce::mean, {}}, {{{"n", 3}}, {{"n", 3.0}}}).metrics.at("n").as_double() == 3.0);
}

BOOST_AUTO_TEST_CASE(a_report_is_recorded_with_what_rank_0_asks_for_and_callbacks_hear_each_rank_s_own) {
  RunSpec spec = spec_of(2);
  spec.callback_lag_max = 1;
  Rig run(spec);
  run.to_running();
  for (int step = 0; step < 2; ++step) {
    const ReductionPlan plan{{}, {{"loss", Reduce::mean}, {"typo", Reduce::sum}}};
    run.send(RankReported{1, 0, step, {{"loss", 1.0}}, {}, {}, plan});
    run.send(RankReported{1, 1, step, {{"loss", 2.0}}, {}, {}, {}});
    BOOST_TEST(run.last<AppendResult>().line.metrics.at("loss").as_double() == 1.5);
    BOOST_TEST(run.last<AppendResult>().rank_metrics->at(1).at("loss").as_double() == 2.0);
    run.send(ReportHeard{});
  }
  BOOST_REQUIRE(run.count<Warn>() == 1U);
  BOOST_TEST(contains(run.last<Warn>().text, "does not report as numbers: typo"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
