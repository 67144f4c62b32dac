#include "driver/run_folder.hpp"

#include "driver/file_size_limit.hpp"
#include "storage/scratch.hpp"

#include <filesystem>
#include <unistd.h>

namespace headway::driver {

using storage::must;
using storage::read;
using storage::Scratch;

BOOST_FIXTURE_TEST_SUITE(run_folder_suite, Scratch)

BOOST_AUTO_TEST_CASE(lines_that_the_disk_had_no_space_for_are_written_before_the_next_one) {
  RunFolder folder(run);
  BOOST_TEST(folder.append("first").empty());
  {
    const FileSizeLimit full(9);
    BOOST_TEST(folder.append("second").size() == 1U);
    BOOST_TEST(folder.append("third").empty(), "it is said once");
  }
  BOOST_TEST(read(run + "/result.json") == "first\n");
  BOOST_TEST(folder.append("fourth").empty());
  BOOST_TEST(read(run + "/result.json") == "first\nsecond\nthird\nfourth\n");
  BOOST_TEST(folder.close(true).empty());
  BOOST_TEST(read(run + "/result.json") == "first\nsecond\nthird\nfourth\n");
}

BOOST_AUTO_TEST_CASE(the_last_line_is_tried_again_at_the_end_and_missed_aloud) {
  for (const bool space : {true, false}) {
    RunFolder folder(run);
    const FileSizeLimit full(space ? 100 : 1);
    {
      const FileSizeLimit full_for_now(1);
      BOOST_TEST(folder.append("the only one").size() == 1U);
    }
    const std::vector<std::string> warnings = folder.close(true);
    BOOST_TEST(warnings.size() == (space ? 0u : 1u));
    BOOST_TEST(read(run + "/result.json") == (space ? "the only one\n" : ""));
    if (!space)
      BOOST_TEST(storage::contains(warnings[0], "of the reports, 1 are not in result.json: cannot write " + run));
    std::filesystem::remove(run + "/result.json");
  }
}

BOOST_AUTO_TEST_CASE(the_status_of_a_run_at_work_stays_when_a_second_driver_is_turned_away) {
  RunFolder first(run);
  must(first.prepare({}, nullptr, this_owner({})));
  control::RunView view;
  view.name = "the first one's";
  first.write_status(view, {});
  const std::string status = read(run + "/status.json");
  BOOST_TEST(storage::contains(status, "the first one's"));
  BOOST_TEST(storage::contains(status, "\"pid\":" + std::to_string(getpid())));
  RunFolder second(run);
  BOOST_TEST(!second.prepare({}, nullptr, this_owner({})).has_value());
  second.write_status({}, {});
  second.close(false);
  BOOST_TEST(read(run + "/status.json") == status);
  first.close(false);
  BOOST_TEST(!std::filesystem::exists(run + "/status.json"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
