#include "driver/staging.hpp"

#include "driver/staging_place.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace headway::driver {

namespace {

namespace fs = storage::fs;

Result<Staging> make() { return Staging::make(StagingRoot::from_environment()); }

struct StagedRuns : StagingPlace {
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(path("staging")), fs::directory_iterator());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(staging_suite, StagedRuns)

BOOST_AUTO_TEST_CASE(each_run_has_its_own_directory_which_goes_with_it) {
  std::optional<Staging> one = storage::must(make());
  const Staging other = storage::must(make());
  BOOST_TEST(one->path() != other.path());
  std::ofstream(one->path() + "/result.json") << "line\n";
  const std::string gone = one->path();
  one.reset();
  BOOST_TEST(!fs::exists(gone));
  BOOST_TEST(fs::is_directory(other.path()));
  BOOST_TEST(entries() == 2);  // The other one, and its lock.
}

BOOST_AUTO_TEST_CASE(what_a_killed_driver_left_goes_when_the_next_one_starts_and_what_lives_stays) {
  const Staging alive = storage::must(make());
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<Staging> doomed = make();
    if (doomed) std::ofstream(doomed->path() + "/rank_0.log") << "line\n";
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(entries() == 4);
  const Staging next = storage::must(make());
  BOOST_TEST(entries() == 4);
  BOOST_TEST(fs::is_directory(alive.path()));
  BOOST_TEST(fs::is_directory(next.path()));
}

BOOST_AUTO_TEST_CASE(the_lines_that_a_killed_driver_left_are_for_the_next_one_of_the_same_run) {
  const auto is_killed_in = [](const std::string& run) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Result<Staging> doomed = Staging::make(StagingRoot::from_environment(), run);
      if (doomed) std::ofstream(doomed->path() + "/result.json") << "line of " << run;
      if (doomed) std::ofstream(doomed->path() + "/rank_0.log") << "a log";
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
  };
  const auto next = [](const std::string& run) {
    return storage::must(Staging::make(StagingRoot::from_environment(), run));
  };
  const auto results_left = [&] {
    const auto is_results = [](const fs::directory_entry& entry) { return entry.path().filename() == "result.json"; };
    const fs::recursive_directory_iterator all(path("staging"));
    return std::find_if(all, fs::recursive_directory_iterator(), is_results)->path();
  };
  const std::string left = "/" + std::string(left_results_prefix) + "0";
  is_killed_in("s3://bucket/one");
  {
    const Staging other = next("s3://bucket/other");
    BOOST_TEST(fs::is_empty(other.path()));
    BOOST_TEST(entries() == 4);
    BOOST_TEST(!fs::exists(results_left().replace_filename("rank_0.log")));
  }
  {
    const Staging same = next("s3://bucket/one");
    BOOST_TEST(entries() == 2);
    BOOST_TEST(storage::read(same.path() + left) == "line of s3://bucket/one");
  }
  is_killed_in("s3://bucket/one");
  fs::last_write_time(results_left(), fs::file_time_type::clock::now() - std::chrono::hours(8 * 24));
  const Staging later = next("s3://bucket/other");
  BOOST_TEST(entries() == 2);
}

BOOST_AUTO_TEST_CASE(the_default_directory_goes_with_the_last_of_them_and_a_chosen_one_stays) {
  {
    const Staging chosen = storage::must(make());
  }
  BOOST_TEST(entries() == 0);
  ::unsetenv("HEADWAY_STAGING_DIR");
  ::setenv("TMPDIR", path("").c_str(), 1);
  const std::string root = StagingRoot::from_environment().path();
  for (int again = 0; again < 2; ++again) {
    std::optional<Staging> first = storage::must(make());
    std::optional<Staging> last = storage::must(make());
    first.reset();
    BOOST_TEST(fs::is_directory(root));
    last.reset();
    BOOST_TEST(!fs::exists(root));
  }
  ::unsetenv("TMPDIR");
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_left_alone_by_the_next_driver) {
  std::string kept;
  {
    Staging staging = storage::must(make());
    std::ofstream(staging.path() + "/result.json") << "line\n";
    kept = staging.keep();
  }
  const Staging next = storage::must(make());
  BOOST_TEST(storage::read(kept + "/result.json") == "line\n");
  BOOST_TEST(entries() == 3);
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_used_is_told_with_the_variable) {
  write("staging", "a file");
  const Error error = storage::error_of(make());
  BOOST_TEST(storage::contains(error.message, path("staging")));
  BOOST_TEST(storage::contains(error.message, "HEADWAY_STAGING_DIR"));
  ::setenv("HEADWAY_STAGING_DIR", "relative", 1);
  BOOST_TEST(storage::contains(storage::error_of(make()).message, "must be an absolute path"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
