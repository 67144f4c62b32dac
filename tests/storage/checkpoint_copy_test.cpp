#include "storage/checkpoint/checkpoint_copy.hpp"
#include "core/fault_point.hpp"
#include "storage/checkpoint/survey.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/scratch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

/// Copies of checkpoints, and what lies at a place.
namespace headway::storage {

namespace {

struct Saved : Scratch {
  Saved() {
    write("source/model.pt", std::string(20'000'000, 'm'));
    write("source/parts/rank_1.pt", "one");
    checkpoint = save(*this, "c0", 0, path("source"));
  }
  std::string checkpoint;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(checkpoint_copy_suite, Saved)

BOOST_AUTO_TEST_CASE(a_copy_is_a_committed_checkpoint_of_its_own) {
  std::vector<Progress> told;
  const std::string target = path("new/deep/copy");
  const Manifest copied =
      must(copy_checkpoint(checkpoint, target, [&](const Progress& progress) { told.push_back(progress); }));
  BOOST_TEST(copied.checkpoint == "copy");
  BOOST_TEST((names_of(copied.files) == Names{"model.pt", "parts/rank_1.pt"}));
  BOOST_TEST(must(examine(target)).damaged.empty());
  BOOST_TEST(must(read_manifest(target)).files[0].checksum == must(read_manifest(checkpoint)).files[0].checksum);
  BOOST_TEST((names_of(must(list_checkpoints(path("new/deep")))) == Names{"copy"}));
  BOOST_TEST(told.size() > 3u);
  BOOST_TEST(told.back().bytes == 20'000'003u);
  BOOST_TEST(told.back().bytes_total == 20'000'003u);
  BOOST_TEST(told.back().files == 2u);
}

BOOST_AUTO_TEST_CASE(a_damaged_source_is_told_and_nothing_is_left_of_the_copy) {
  save(*this, "c1", 1, path("source"));
  {
    std::fstream file(checkpoint + "/model.pt");
    file.seekp(123'456);
    file.put('!');
  }
  Error error = error_of(copy_checkpoint(checkpoint, path("copy")));
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(contains(error.message, checkpoint + "/model.pt is damaged: expected checksum xxh3:"));
  BOOST_TEST(contains(error.message, "the newest good checkpoint of this run is " + run + "/c1"));
  BOOST_TEST(!fs::exists(path("copy")));
  fs::remove(checkpoint + "/parts/rank_1.pt");
  must(remove_checkpoint(run + "/c1"));
  error = error_of(copy_checkpoint(checkpoint, path("copy")));
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(!fs::exists(path("copy")));
  fs::resize_file(checkpoint + "/.headway.json", 0);
  error = error_of(copy_checkpoint(checkpoint, path("copy")));
  BOOST_TEST(contains(error.message, checkpoint + "/.headway.json is damaged: expected a whole manifest"));
}

BOOST_AUTO_TEST_CASE(a_copy_that_is_killed_at_any_step_is_none_or_whole_and_can_be_made_again) {
  const std::string target = path("copies/best");
  int step = 1;
  for (int ended = SIGKILL; ended == SIGKILL; ++step) {
    BOOST_TEST_CONTEXT("killed at fault point number " << step) {
      const pid_t child = ::fork();
      if (child == 0) {
        arm_fault_point("*", step);
        ::_exit(copy_checkpoint(checkpoint, target) ? 0 : 1);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      ended = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
      BOOST_TEST((ended == SIGKILL || ended == 0));
      if (!read_manifest(target)) must(copy_checkpoint(checkpoint, target));
      BOOST_TEST(must(examine(target)).damaged.empty());
      must(remove_checkpoint(target));
      must(sweep(path("copies")));
      BOOST_TEST(fs::is_empty(path("copies")));
    }
  }
  BOOST_TEST(step > 8);
}

BOOST_AUTO_TEST_CASE(what_is_at_the_target_stays) {
  write("copy/mine", "mine");
  BOOST_TEST((error_of(copy_checkpoint(checkpoint, path("copy"))).kind == ErrorKind::already_exists));
  BOOST_TEST(read(path("copy/mine")) == "mine");
  BOOST_TEST((error_of(copy_checkpoint(path("source"), path("other"))).kind == ErrorKind::not_found));
  BOOST_TEST(!fs::exists(path("other")));
}

BOOST_AUTO_TEST_CASE(nothing_is_copied_into_a_checkpoint_be_it_damaged) {
  const auto refuse = [&](const std::string& target) {
    const Error error = error_of(copy_checkpoint(checkpoint, target));
    BOOST_TEST((error.kind == ErrorKind::already_exists));
    BOOST_TEST(error.message ==
               target + " would lie within the checkpoint " + checkpoint + "; nothing is put into a checkpoint");
  };
  refuse(checkpoint + "/itself");
  refuse(checkpoint + "/further/down");
  must(copy_checkpoint(checkpoint, path("copy")));
  write("copy/.headway.json", "{");
  BOOST_TEST((error_of(copy_checkpoint(checkpoint, path("copy/within"))).kind == ErrorKind::already_exists));
  BOOST_TEST(!fs::exists(checkpoint + "/further"));
  must(verify(checkpoint));
}

BOOST_AUTO_TEST_CASE(files_that_were_recorded_as_found_get_checksums_in_the_copy) {
  write("run/own/a", "first");
  must(commit_placed(run + "/own", manifest_of("own", 1, {})));
  write("run/own/b", "written since");
  const Manifest copied = must(copy_checkpoint(run + "/own", path("copy")));
  BOOST_TEST((names_of(copied.files) == Names{"a", "b"}));
  BOOST_TEST(copied.files[1].checksum.starts_with("xxh3:"));
  BOOST_TEST(must(examine(path("copy"))).damaged.empty());
}

BOOST_AUTO_TEST_CASE(a_survey_tells_runs_checkpoints_and_neither_apart) {
  save(*this, "c1", 1, path("source"));
  Survey found = must(survey(run));
  BOOST_TEST((found.kind == PlaceKind::run));
  BOOST_TEST((names_of(found.checkpoints) == Names{"c0", "c1"}));
  found = must(survey(checkpoint));
  BOOST_TEST((found.kind == PlaceKind::checkpoint));
  BOOST_TEST(found.checkpoints.at(0).files.size() == 2u);
  fs::resize_file(checkpoint + "/.headway.json", 7);
  BOOST_TEST(contains(must(survey(checkpoint)).unreadable.at(0), checkpoint + "/.headway.json is not JSON"));
  found = must(survey(run));
  BOOST_TEST((names_of(found.checkpoints) == Names{"c1"}));
  BOOST_TEST(found.unreadable.size() == 1u);
  write("run/c0/.headway.json", R"({"version": 99})");
  for (const std::string& place : {run, checkpoint}) {
    const Error error = error_of(survey(place));
    BOOST_TEST((error.kind == ErrorKind::invalid_argument));
    BOOST_TEST(contains(error.message, "was written by a newer Headway"));
  }
}

BOOST_AUTO_TEST_CASE(a_run_without_checkpoints_is_a_run_and_an_empty_directory_is_nothing) {
  write("fresh/run.json", "{}");
  BOOST_TEST((must(survey(path("fresh"))).kind == PlaceKind::run));
  for (const std::string& place : {path("source"), path("nowhere")}) {
    const Error error = error_of(survey(place));
    BOOST_TEST((error.kind == ErrorKind::not_found));
    BOOST_TEST(contains(error.message, place));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
