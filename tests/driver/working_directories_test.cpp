#include "driver/working_directories.hpp"

#include "driver/child.hpp"
#include "driver/staging_place.hpp"

/// The directories in which ranks work: who removes them, and when.
namespace headway::driver {

namespace {

namespace fs = storage::fs;

struct RanksPlace : StagingPlace {
  /// What a driver does before its ranks make their working directory.
  storage::LockFile claim() const {
    storage::must(directories.prepare());
    return directories.claim(directory);
  }
  /// A driver that has claimed the directory, and whose ranks have made it.
  Child driver() const {
    return Child([this] {
      static storage::LockFile held;
      held = claim();
      if (held.is_open()) fs::create_directory(directory);
    });
  }
  bool has_lock() const { return fs::exists(directory + ".lock"); }

  WorkingDirectories directories{StagingRoot::from_environment()};
  std::string directory = directories.working_directory("run", "t0000");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(working_directories_suite, RanksPlace)

BOOST_AUTO_TEST_CASE(a_directory_whose_driver_lives_stays_when_another_driver_starts) {
  const Child other = driver();
  BOOST_REQUIRE(fs::is_directory(directory));
  storage::must(directories.prepare());
  BOOST_TEST(fs::is_directory(directory));
  BOOST_TEST(has_lock());
}

BOOST_AUTO_TEST_CASE(an_empty_directory_whose_driver_has_died_goes_when_the_next_driver_starts) {
  Child other = driver();
  other.end();
  BOOST_TEST(fs::is_directory(directory));
  storage::must(directories.prepare());
  BOOST_TEST(!fs::exists(fs::path(directory).parent_path()));
}

BOOST_AUTO_TEST_CASE(what_ranks_of_a_driver_that_has_died_wrote_stays_without_its_lock) {
  Child other = driver();
  std::ofstream(directory + "/notes.txt") << "a note";
  other.end();
  storage::must(directories.prepare());
  BOOST_TEST(storage::read(directory + "/notes.txt") == "a note");
  BOOST_TEST(!has_lock());
}

BOOST_AUTO_TEST_CASE(the_next_driver_of_the_same_run_claims_what_a_dead_one_had) {
  Child other = driver();
  other.end();
  const storage::LockFile lock = directories.claim(directory);
  BOOST_TEST(lock.is_open());
  storage::must(directories.prepare());
  BOOST_TEST(fs::is_directory(directory));
}

BOOST_AUTO_TEST_CASE(of_two_drivers_of_one_run_the_last_to_leave_removes_the_directory) {
  Child other = driver();
  storage::LockFile lock = claim();
  BOOST_REQUIRE(lock.is_open());
  BOOST_TEST(!storage::must(directories.leave(directory, true, lock)));
  BOOST_TEST(fs::is_directory(directory), "ranks of the other driver work there");
  BOOST_TEST(has_lock());
  other.end();
  storage::LockFile last = directories.claim(directory);
  BOOST_TEST(!storage::must(directories.leave(directory, false, last)));
  BOOST_TEST(!fs::exists(fs::path(directory).parent_path()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
