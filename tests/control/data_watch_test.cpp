#include "control/data_watch.hpp"
#include "control/rig.hpp"

/// What ranks say of their data sets becomes a verdict.
namespace headway::control {
namespace {

DataProgress progress(const std::string& dataset, double waiting_s, double elapsed_s) {
  DataProgress made;
  made.dataset = dataset;
  made.waits = {waiting_s, elapsed_s};
  made.flow.budget_bytes = 100;
  made.flow.held_bytes = static_cast<std::int64_t>(waiting_s);
  made.flow.held_bytes_max = 10 * made.flow.held_bytes;
  made.flow.stages = {{"read", 1, 1, 0, 9}, {"map(slow)", 1, 9, 1, 0}, {"deal", 1, 0, 10, 0}};
  return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_verdict_is_about_the_data_set_that_ranks_waited_for_the_longest) {
  DataWatch watch;
  watch.begin();
  BOOST_TEST(watch.verdict_words().empty());
  watch.told(0, progress("train", 6, 10), Time{1s});
  watch.told(1, progress("train", 4, 10), Time{1s});
  watch.told(1, progress("validation", 1, 1), Time{1s});
  BOOST_TEST(watch.verdict_words() == "data-bound by stage map(slow): ranks waited 50 % of the time for data");
  const auto times = watch.take_times(Time{2s}, true);
  BOOST_REQUIRE(times.has_value());
  BOOST_TEST(times->dataset.value() == "train");
  BOOST_TEST(times->datasets.at("validation").ranks.waiting_s == 1);
  const DatasetTimes& train = times->datasets.at("train");
  BOOST_TEST(train.budget_bytes.value() == 100);
  BOOST_TEST(train.held_bytes.value() == 6);  // Of the rank that waited most.
  BOOST_TEST(train.held_bytes_max.value() == 60);
  BOOST_TEST(!watch.take_times(Time{60s}, true));  // Nothing is new.
}

BOOST_AUTO_TEST_CASE(attempts_are_added_and_what_was_too_short_says_nothing) {
  DataWatch watch;
  watch.begin();
  watch.told(0, progress("train", 0.1, 0.6), Time{1s});
  BOOST_TEST(watch.verdict_words().empty());
  watch.begin();
  watch.told(0, progress("train", 0.0, 9.4), Time{2s});
  BOOST_TEST(watch.verdict_words() == "not data-bound (ranks waited 1 %)");
}

}  // namespace headway::control
