#include "data/flow_text.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::data {

BOOST_AUTO_TEST_SUITE(flow_texts)

BOOST_AUTO_TEST_CASE(numbers_are_grouped_and_bytes_have_units) {
  BOOST_TEST(grouped(0) == "0");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(1'234'567) == "1,234,567");
  BOOST_TEST(grouped(-1'234) == "-1,234");
  BOOST_TEST(bytes_text(1023) == "1023 B");
  BOOST_TEST(bytes_text(12 << 20) == "12.0 MiB");
}

BOOST_AUTO_TEST_CASE(a_table_has_a_line_a_stage) {
  FlowCounters flow;
  flow.elapsed_s = 2;
  flow.rows = 2000;
  flow.budget_bytes = 256 << 20;
  flow.held_bytes_max = 3 << 20;
  flow.stages = {{"read parquet", 2, 0.5, 0, 3.5, 2000, 16000, 0, 1 << 20}, {"deal", 1, 0.25, 1.5, 0.25, 2000, 16000}};
  BOOST_TEST(stats_table(flow) ==
             "stage          rows     bytes  rows/s  workers  working  waits for input  waits for output     held\n"
             "read parquet  2,000  15.6 KiB   1,000        2   0.50 s           0.00 s            3.50 s  1.0 MiB\n"
             "deal          2,000  15.6 KiB   1,000        1   0.25 s           1.50 s            0.25 s      0 B\n"
             "2,000 rows in 2.00 s; the data process has held at most 3.0 MiB of its memory budget of 256.0 MiB");
}

BOOST_AUTO_TEST_CASE(a_line_says_how_far_it_is) {
  FlowCounters flow;
  BOOST_TEST(progress_text(flow, "") == "starting");
  BOOST_TEST(progress_text(flow, "materialize") == "materialize · starting");
  flow.elapsed_s = 12;
  flow.rows = 1200;
  flow.stages = {{"write csv"}};
  BOOST_TEST(progress_text(flow, "") == "write csv · 1,200 rows · 100 rows/s · 12 s · 0 B of 0 B held");
  BOOST_TEST(progress_text(flow, "materialize").starts_with("materialize · 1,200 rows"));
  flow.stages.push_back({"deal"});
  BOOST_TEST(progress_text(flow, "").starts_with("loop · 1,200 rows"));
}

BOOST_AUTO_TEST_CASE(a_line_says_how_far_rows_have_come_before_the_first_are_through) {
  FlowCounters flow;
  flow.elapsed_s = 2;
  flow.stages = {{"read parquet"}, {"map"}, {"deal"}};
  BOOST_TEST(progress_text(flow, "count").starts_with("count · 0 rows · 0 rows/s"));
  flow.stages[0].rows = 3000;
  BOOST_TEST(progress_text(flow, "count").starts_with("count · read parquet: 3,000 rows · 1,500 rows/s → map · 2.0 s"));
  flow.stages[1].rows = 1000;
  BOOST_TEST(progress_text(flow, "").starts_with("loop · map: 1,000 rows · 500 rows/s · 2.0 s"));
  flow.rows = 10;
  BOOST_TEST(progress_text(flow, "").starts_with("loop · 10 rows · 5 rows/s"));
}

BOOST_AUTO_TEST_CASE(rows_that_no_rank_gets_are_said) {
  BOOST_TEST(dropped_text("train", 1, 2) ==
             "data set 'train': the last row of an epoch was dropped, because the 2 ranks have equal shares");
  BOOST_TEST(dropped_text("", 2, 3) ==
             "a data set: the last 2 rows of an epoch were dropped, because the 3 ranks have equal shares");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
