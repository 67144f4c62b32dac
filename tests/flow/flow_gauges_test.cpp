#include "flow/flow_gauges.hpp"

#include <arrow/api.h>

#include <boost/test/unit_test.hpp>

/// Where the time of a flow's threads goes. Each interval counts for every stage of a thread's path
/// alike, so what is compared does not depend on how long anything takes.
namespace headway::flow {
namespace {

/// The clock that gauges look at moves on.
void let_time_pass() {
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() == begun) continue;
}

double all_seconds(const StageCounters& stage) { return stage.busy_s + stage.waiting_input_s + stage.waiting_output_s; }

struct Gauges {
  Budget budget{1000};
  FlowGauges flow{budget};
  StagePath path{flow.add("read"), flow.add("map"), flow.add("deal")};

  StageCounters of(std::size_t stage) const { return flow.read().stages.at(stage); }
};

std::shared_ptr<arrow::RecordBatch> null_rows(std::int64_t count) {
  const auto column = arrow::MakeArrayOfNull(arrow::int64(), count).ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int64())}), count, {column});
}

/// Gives two batches and a chunk without rows, and fails then if it is to.
class CountingSource : public Stage {
 public:
  explicit CountingSource(arrow::Status end = arrow::Status::OK()) : end_(std::move(end)) {}
  arrow::Result<std::optional<Chunk>> next() override {
    ++calls_;
    let_time_pass();
    if (calls_ > 3 && !end_.ok()) return end_;
    if (calls_ > 3) return std::nullopt;
    Chunk chunk;
    if (calls_ < 3) chunk.rows = null_rows(std::int64_t{10} * calls_);
    return chunk;
  }
  std::shared_ptr<arrow::Schema> schema() const override { return null_rows(0)->schema(); }
  void stop() override {}

 private:
  arrow::Status end_;
  int calls_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(flow_gauges, Gauges)

BOOST_AUTO_TEST_CASE(while_a_thread_is_in_one_stage_those_before_wait_for_output_and_those_behind_for_input) {
  {
    ThreadClock clock(flow, path);
    clock.go(ThreadClock::in(1));
    let_time_pass();
    clock.go(ThreadClock::before(0));
  }
  // From its making to its first place the thread is before all stages.
  BOOST_TEST(of(0).waiting_output_s > 0);
  BOOST_TEST(of(0).busy_s == 0);
  BOOST_TEST(of(1).busy_s > 0);
  BOOST_TEST(of(1).waiting_output_s == 0);
  BOOST_TEST(of(2).busy_s + of(2).waiting_output_s == 0);
  BOOST_TEST(of(2).waiting_input_s > 0);
  BOOST_TEST(all_seconds(of(0)) == all_seconds(of(1)), boost::test_tools::tolerance(1e-9));
  BOOST_TEST(all_seconds(of(1)) == all_seconds(of(2)), boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_thread_before_a_stage_waits_for_rows_from_those_before) {
  ThreadClock clock(flow, path);
  clock.go(ThreadClock::before(2));
  const StageCounters first = of(1);
  let_time_pass();
  BOOST_TEST(of(1).waiting_output_s > first.waiting_output_s);
  BOOST_TEST(of(2).waiting_input_s > 0);
  BOOST_TEST(of(2).at_work + of(1).at_work + of(0).at_work == 0);
}

BOOST_AUTO_TEST_CASE(a_stage_that_is_idle_inside_spends_no_time_and_is_not_at_work) {
  ThreadClock clock(flow, path);
  clock.go(ThreadClock::idle_in(1));
  const double before = all_seconds(of(1));
  let_time_pass();
  BOOST_TEST(of(1).at_work == 0);
  BOOST_TEST(all_seconds(of(1)) == before);
  BOOST_TEST(of(2).waiting_input_s > 0);
}

BOOST_AUTO_TEST_CASE(reading_adds_the_time_of_threads_that_are_at_work) {
  ThreadClock clock(flow, path);
  clock.go(ThreadClock::in(0));
  let_time_pass();
  const StageCounters first = of(0);
  BOOST_TEST(first.busy_s > 0);
  BOOST_TEST(first.at_work == 1);
  let_time_pass();
  BOOST_TEST(of(0).busy_s > first.busy_s);
}

BOOST_AUTO_TEST_CASE(threads_of_one_stage_are_counted_and_leave_with_their_clocks) {
  {
    ThreadClock one(flow, path);
    ThreadClock other(flow, path);
    one.go(ThreadClock::in(1));
    other.go(ThreadClock::in(1));
    BOOST_TEST(of(1).at_work == 2);
  }
  BOOST_TEST(of(1).at_work == 0);
}

BOOST_AUTO_TEST_CASE(a_stay_ends_where_the_thread_was) {
  ThreadClock clock(flow, path);
  clock.go(ThreadClock::in(2));
  {
    const Stay stay(&clock, ThreadClock::in(0));
    BOOST_TEST(of(0).at_work == 1);
    BOOST_TEST(of(2).at_work == 0);
  }
  BOOST_TEST(of(0).at_work == 0);
  BOOST_TEST(of(2).at_work == 1);
  const Stay nowhere(nullptr, ThreadClock::in(5));
}

BOOST_AUTO_TEST_CASE(the_rows_of_a_flow_are_those_of_its_last_stage) {
  path[0]->made(*null_rows(30));
  path[2]->made(*null_rows(20));
  const FlowCounters counters = flow.read();
  BOOST_TEST(counters.rows == 20);
  BOOST_TEST(counters.stages[0].rows == 30);
  BOOST_TEST(counters.stages[0].name == "read");
  BOOST_TEST(counters.budget_bytes == 1000);
  BOOST_TEST(FlowGauges(budget).read().rows == 0);
}

BOOST_AUTO_TEST_CASE(the_time_of_a_flow_ends_with_its_pulling) {
  flow.puller();
  flow.stop_pulling();
  const double elapsed_s = flow.read().elapsed_s;
  let_time_pass();
  BOOST_TEST(flow.read().elapsed_s == elapsed_s);
}

BOOST_AUTO_TEST_CASE(whom_a_flow_waits_for_is_said_until_it_waits_no_more) {
  BOOST_TEST(!flow.read().awaited.has_value());
  flow.wait_for(3);
  let_time_pass();
  BOOST_TEST(flow.read().awaited.value() == 3);
  BOOST_TEST(flow.read().awaited_for_s > 0);
  flow.wait_for(std::nullopt);
  BOOST_TEST(!flow.read().awaited.has_value());
  BOOST_TEST(flow.read().awaited_for_s == 0);
}

BOOST_AUTO_TEST_CASE(pools_have_numbers_from_one_on) {
  BOOST_TEST(flow.next_pool() == 1);
  BOOST_TEST(flow.next_pool() == 2);
}

BOOST_AUTO_TEST_CASE(a_gauged_stage_counts_what_it_passes_on_and_works_while_it_is_asked) {
  const auto shared = std::make_shared<FlowGauges>(budget);
  const auto stage = gauged(std::make_unique<CountingSource>(), shared, "count");
  while (stage->next().ValueOrDie()) continue;
  const StageCounters counters = shared->read().stages.at(0);
  BOOST_TEST(counters.name == "count");
  BOOST_TEST(counters.rows == 30);
  BOOST_TEST(counters.at_work == 0);
  BOOST_TEST(counters.busy_s > 0);
}

BOOST_AUTO_TEST_CASE(a_gauged_stage_that_fails_is_left) {
  const auto shared = std::make_shared<FlowGauges>(budget);
  const auto stage = gauged(std::make_unique<CountingSource>(arrow::Status::IOError("gone")), shared, "count");
  for (int call = 0; call < 3; ++call) BOOST_TEST(stage->next().ok());
  BOOST_TEST(!stage->next().ok());
  BOOST_TEST(shared->read().stages.at(0).at_work == 0);
}

BOOST_AUTO_TEST_CASE(the_pulling_thread_waits_for_a_stage_with_threads_of_its_own) {
  const auto shared = std::make_shared<FlowGauges>(budget);
  auto before = gauged(awaited(std::make_unique<CountingSource>(), shared), shared, "cut");
  while (before->next().ValueOrDie()) continue;
  BOOST_TEST(shared->read().stages.at(0).waiting_input_s > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
