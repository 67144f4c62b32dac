#include "library/program_run.hpp"

#include <fstream>
#include <iterator>

/// Runs that are started and train beside the program, which has a handle to them.
namespace headway::library {
namespace {

struct HandleProgram : TrainProgram {
  std::string journal() const {
    std::ifstream file(folder.path() + "/run/run.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool notes(const std::string& text) const { return journal().find(text) != std::string::npos; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(handle_suite, HandleProgram)

BOOST_AUTO_TEST_CASE(a_run_that_another_thread_stops_ends_as_finished_with_what_it_has_reported) {
  both("stopped_by_its_handle", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("ended early 0 done 0"));
    BOOST_TEST(ended.says("now done 1"));
    BOOST_TEST(ended.says("metrics {"));
    BOOST_TEST(ended.says("The run stops: far enough"));
    BOOST_TEST(notes("\"state\":\"finished\""));
    BOOST_TEST(notes("\"stop_reason\":\"far enough\""));
  });
}

BOOST_AUTO_TEST_CASE(a_run_whose_handle_goes_is_aborted_and_waited_for) {
  both("abandoned_by_its_handle", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("error aborted: the handle of " + folder.path() + "/run goes"));
    BOOST_TEST(notes("\"state\":\"aborted\""));
  });
}

BOOST_AUTO_TEST_CASE(a_handle_in_a_forked_child_is_refused_and_the_parents_run_is_left_alone) {
  both("handle_in_a_child", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    const std::string words = ": the handle of " + folder.path() + "/run belongs to process ";
    BOOST_TEST(ended.says("stop" + words));
    BOOST_TEST(ended.says("wait" + words));
    BOOST_TEST(ended.says("the handle is gone"));
    BOOST_TEST(ended.says("The run stops: far enough"));
  });
}

BOOST_AUTO_TEST_CASE(a_run_whose_handle_gets_no_thread_is_aborted_and_the_error_names_the_limits) {
  const auto refused = [&](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("error unavailable: cannot start a thread: "));
    BOOST_TEST(ended.says("ulimit -u"));
    BOOST_TEST(!ended.says("finished"));
  };
  both("handle_without_a_thread", refused, "HEADWAY_FAULT_POINT=handle.thread ");
}

BOOST_AUTO_TEST_CASE(what_happens_in_a_run_comes_from_its_handle_in_order_and_ends_with_the_run) {
  both("watched_by_its_handle", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 0);
    const std::size_t line = ended.output.find("event line 0 hello\n");
    const std::size_t last = ended.output.find("event report 2\n");
    const std::size_t end = ended.output.find("event end finished attempts 1\n");
    BOOST_TEST(line < last);
    BOOST_TEST(last < end);
    BOOST_TEST(end != std::string::npos);
    BOOST_TEST(!ended.says("an event "));
  });
}

BOOST_AUTO_TEST_CASE(a_failed_attempt_is_an_event) {
  both("failing_while_it_is_watched", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("event failed attempt 1 in one of 2: std::runtime_error: bad batch"));
    BOOST_TEST(ended.says("event end errored attempts 1\n"));
  });
}

BOOST_AUTO_TEST_CASE(what_a_run_fails_by_comes_from_each_wait) {
  both("failing_under_a_handle", [&](const Ended& ended) {
    BOOST_TEST(ended.code == 1);
    BOOST_TEST(ended.says("first 0 done 1"));
    BOOST_TEST(ended.says("error user_code: std::runtime_error: bad batch"));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
