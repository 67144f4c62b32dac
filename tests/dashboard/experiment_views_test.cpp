#include "dashboard/importances.hpp"
#include "dashboard/trial_places.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>

/// Which parameters matter, and which trials were at work when.
namespace headway::dashboard {

namespace {

namespace tune = control::tune;
using namespace std::chrono_literals;

struct Experiment {
  Experiment() {
    tune::ExperimentSpec spec;
    spec.metric = "loss";
    spec.mode = "min";
    tell(0s, tune::DriverBegan{spec, 1000, {}});
  }
  void tell(Duration at, const tune::TuneEvent& event) { record.add("00000000 " + tune::to_line(Time{at}, event)); }
  void suggest(const std::string& id, JsonObject config) { tell(0s, tune::TrialSuggested{id, json_text(config), id}); }
  ExperimentRecord record;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(experiment_views_suite, Experiment)

BOOST_AUTO_TEST_CASE(what_decides_the_value_is_important) {
  constexpr int trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    const double rate = std::pow(10.0, -5.0 + 4.0 * trial / trials);
    const std::string id = "t" + std::to_string(trial);
    suggest(id, {{"rate", rate}, {"layers", trial % 7}, {"kind", trial % 2 == 0 ? "a" : "b"}, {"seed", 1}});
  }
  BOOST_TEST(importances_of(record).why_none == "10 trials with a value are needed, there are 0");
  for (int trial = 0; trial < trials; ++trial) {
    tell(1s, tune::TrialReady{trial});
    tell(1s, tune::TrialReported{trial, 1, {{"loss", std::abs(trial - 30.0)}}, {}, {}, {}});
  }
  const Importances found = importances_of(record);
  BOOST_TEST(found.trials == trials);
  BOOST_TEST(found.best == 6);
  BOOST_REQUIRE(found.parameters.size() == 4U);
  BOOST_TEST(found.parameters[0].name == "rate");
  BOOST_TEST(found.parameters[0].share > 0.5);
  BOOST_TEST(found.parameters[3].name == "seed");
  BOOST_TEST(found.parameters[3].share == 0);
}

BOOST_AUTO_TEST_CASE(what_is_distributed_alike_is_not_important) {
  BOOST_TEST(divergence({0, 1, 2}, {0, 0, 1, 1, 2, 2}, 3, false) < 0.1);
  BOOST_TEST(divergence({0, 0, 0}, {0, 0, 1, 1, 2, 2}, 3, false) > 0.5);
  BOOST_TEST(divergence({10, 11}, {10, 11, 30, 31, 45, 46}, 50, true) >
             2 * divergence({10, 31, 46}, {10, 11, 30, 31, 45, 46}, 50, true));
}

BOOST_AUTO_TEST_CASE(each_trial_takes_the_first_free_place) {
  for (const char* id : {"a", "b", "c"}) suggest(id, {{"x", 1}});
  BOOST_TEST(trial_places(record, 10).places == 0);
  tell(1s, tune::TrialReady{0});
  tell(2s, tune::TrialReady{1});
  tell(4s, tune::TrialGone{0, "finished", ""});
  tell(5s, tune::TrialReady{2});
  tell(9s, tune::TrialGone{1, "finished", ""});
  const TrialPlaces places = trial_places(record, 10);
  BOOST_TEST(places.places == 2);
  BOOST_TEST(places.from_s.value() == 1001);
  BOOST_TEST(places.to_s.value() == 1009);
  BOOST_REQUIRE(places.spells.size() == 3U);
  BOOST_TEST(places.spells[0].end_s.value() == 1004);
  BOOST_TEST(places.spells[1].place == 1);
  BOOST_TEST(places.spells[2].place == 0);
  BOOST_TEST(!places.spells[2].end_s.has_value());
  BOOST_TEST(places.busy.value() == (3 + 7 + 4) / 16.0);
  BOOST_TEST(trial_places(record, 1).spells.front().id == "c");
  BOOST_TEST(trial_places(record, 1).total == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
