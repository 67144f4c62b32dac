#include "control/tune/events.hpp"

#include <boost/test/unit_test.hpp>

/// Events as lines of a journal.
namespace headway::control::tune {

BOOST_AUTO_TEST_SUITE(tune_events_suite)

BOOST_AUTO_TEST_CASE(lines_of_a_journal_that_are_none_are_refused) {
  BOOST_TEST(!from_line("{}"));
  BOOST_TEST(!from_line("{\"at\": 1, \"is\": \"nothing_known\", \"event\": {}}"));
  BOOST_TEST(!from_line("{\"at\": 1, \"is\": \"trial_ready\", \"event\": {\"trial\": \"x\"}}"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control::tune
