#include "dashboard/series.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

/// Curves of metrics, as many points as are visible.
namespace headway::dashboard {

namespace {

JsonObject line(std::int64_t iteration, double loss) {
  JsonObject object;
  object["training_iteration"] = iteration;
  object["time_total_s"] = 0.25 * static_cast<double>(iteration);
  object["time_since_restore"] = 0.25 * static_cast<double>(iteration);
  object["timestamp"] = 1000 + iteration / 4;
  object["time_this_iter_s"] = 0.25;
  object["loss"] = loss;
  return object;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(series_suite)

BOOST_AUTO_TEST_CASE(few_points_are_themselves) {
  Series series;
  for (int step = 1; step <= 4; ++step) series.add(line(step, step == 3 ? std::nan("") : static_cast<double>(step)));
  const auto buckets = series.buckets("loss", Axis::step, {}, {}, 800);
  BOOST_REQUIRE(buckets.has_value());
  BOOST_TEST(buckets->x == (std::vector<double>{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(json_text(json_of(*buckets)) ==
             R"({"x":[1E0,2E0,3E0,4E0],"min":[1E0,2E0,null,4E0],"max":[1E0,2E0,null,4E0],"last":[1E0,2E0,null,4E0]})");
  BOOST_TEST(!series.buckets("accuracy", Axis::step, {}, {}, 800).has_value());
}

BOOST_AUTO_TEST_CASE(a_spike_among_many_points_is_seen) {
  Series series;
  constexpr std::int64_t count = 200'000;
  constexpr std::int64_t spike = 54'321;
  for (std::int64_t step = 1; step <= count; ++step) {
    JsonObject report;
    report["training_iteration"] = step;
    report["loss"] = step == spike ? 1000.0 : 1.0;
    series.add(report);
  }
  const auto buckets = series.buckets("loss", Axis::step, {}, {}, 800);
  BOOST_REQUIRE(buckets.has_value());
  BOOST_TEST(buckets->x.size() <= 801U);
  BOOST_TEST(*std::max_element(buckets->max.begin(), buckets->max.end()) == 1000);
  BOOST_TEST(*std::max_element(buckets->min.begin(), buckets->min.end()) == 1);
  // Closer by, it stands at its step.
  const auto near = series.buckets("loss", Axis::step, spike - 2.0, spike + 2.0, 800);
  BOOST_TEST(near->last == (std::vector<double>{1, 1, 1000, 1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_happened_between_reports_of_one_second_stands_at_its_report) {
  Series series;
  BOOST_TEST(!series.last_step_of(1).has_value());
  for (const auto& [step, attempt] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 2}, {2, 2}, {3, 4}}) {
    JsonObject report = line(step, 1);
    report["time_total_s"] = 0.001 * static_cast<double>(step);
    report["timestamp"] = 1000;
    report["attempt"] = attempt;
    if (step == 2) report["checkpoint_dir_name"] = "checkpoint_000000";
    series.add(report);
  }
  BOOST_TEST(series.last_step_of(1).value() == 0);
  BOOST_TEST(series.last_step_of(2).value() == 2);
  BOOST_TEST(series.last_step_of(3).value() == 2);
  BOOST_TEST(series.last_step_of(4).value() == 3);
  BOOST_TEST(series.step_of_checkpoint("checkpoint_000000").value() == 2);
  BOOST_TEST(!series.step_of_checkpoint("checkpoint_000001").has_value());
}

BOOST_AUTO_TEST_CASE(thinning_keeps_extremes) {
  Series series(1000);
  constexpr std::int64_t count = 4010;
  for (std::int64_t step = 1; step <= count; ++step) {
    JsonObject report;
    report["training_iteration"] = step;
    report["loss"] = step == 777 ? -5.0 : step == 1501 ? 9.0 : 1.0;
    series.add(report);
  }
  const auto buckets = series.buckets("loss", Axis::step, {}, {}, 100);
  BOOST_TEST(*std::min_element(buckets->min.begin(), buckets->min.end()) == -5);
  BOOST_TEST(*std::max_element(buckets->max.begin(), buckets->max.end()) == 9);
  BOOST_TEST(buckets->x.back() == static_cast<double>(count));
}

BOOST_AUTO_TEST_CASE(names_are_the_users_first_and_nested_ones_are_flat) {
  Series series;
  JsonObject report = line(1, 0.5);
  report["eval"] = JsonObject{{"loss", 2}};
  report["note"] = "text";
  series.add(report);
  BOOST_TEST(series.names() == (std::vector<std::string>{"loss", "eval/loss", "time_this_iter_s"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(time_is_finer_than_the_clock_of_lines) {
  Series series;
  for (int step = 1; step <= 3; ++step) series.add(line(step, 1));
  // Another driver has taken the run up a minute later.
  JsonObject later = line(4, 1);
  later["timestamp"] = 1060;
  later["time_since_restore"] = 0.1;
  series.add(later);
  const auto buckets = series.buckets("loss", Axis::time, {}, {}, 800);
  BOOST_TEST(buckets->x == (std::vector<double>{1000, 1000.25, 1000.5, 1060}), boost::test_tools::per_element());
  BOOST_TEST(series.step_at(1000.3).value() == 2);
  BOOST_TEST(series.step_at(999).value() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
